package requirement

// Shared computes a value once for an environment: cases that judge parts of one
// chart share what they need of the whole. The key begins with the requirement.
func Shared[T any](e *Env, key string, compute func() T) T {
	v, _ := e.shared.LoadOrStore(key, &once[any]{})
	o, _ := v.(*once[any])
	o.Do(func() { o.value = compute() })
	out, _ := o.value.(T)
	return out
}
