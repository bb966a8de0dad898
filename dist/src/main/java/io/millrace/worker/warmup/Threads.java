package io.millrace.worker.warmup;

/** Waiting for the end of threads. Immutable: no state. */
final class Threads {
    private Threads() {}

    /** Waits until {@code thread} has ended; an interrupt does not end the waiting, and is kept. */
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
