"""What carries real packets through an emulated path: namespaces, devices, a process."""
