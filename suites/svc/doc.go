// Package svc holds the family SVC: services, ingresses, routes.
package svc
