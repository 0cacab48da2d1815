// Package val holds the family VAL: values, schemas, generated copies.
package val
