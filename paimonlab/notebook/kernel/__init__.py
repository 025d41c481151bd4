"""What lives as long as the kernel: progress, interrupts, front ends, selection, widgets."""
