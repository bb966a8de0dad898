package io.millrace.worker.warmup;

/** Waits for the end of threads. Stateless. */
final class Threads {
    private Threads() {}

    /**
     * Waits until {@code thread} has ended. Blocks. An interrupt does not end the wait; the interrupt status is
     * restored.
     */
    static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
