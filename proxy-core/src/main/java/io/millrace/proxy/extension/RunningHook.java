package io.millrace.proxy.extension;

import org.jspecify.annotations.Nullable;

/**
 * The hook that one thread runs now, for the watch that finds blocked event loops.
 *
 * <p>The thread writes it; any thread reads it.
 */
final class RunningHook {
    private final String thread;
    private Hook hook = Hook.DELIVER;
    private long sinceNanos;
    /** Written last at the begin, so that a reader that sees it also sees the other values. */
    private volatile @Nullable LoadedExtension extension;
    /** The begin of the call that the watch has reported; used by the watch only. */
    private long reportedNanos;

    private boolean isReported;

    RunningHook(String thread) {
        this.thread = thread;
    }

    void begin(LoadedExtension called, Hook at, long nowNanos) {
        hook = at;
        sinceNanos = nowNanos;
        extension = called;
    }

    void end() {
        extension = null;
    }

    /** Reports the call to its extension, once, if it has run for longer than a limit. */
    void reportIfLonger(long limitNanos, long nowNanos) {
        LoadedExtension running = extension;
        if (running == null) {
            return;
        }
        long since = sinceNanos;
        boolean isKnown = isReported && reportedNanos == since;
        if (nowNanos - since > limitNanos && !isKnown) {
            reportedNanos = since;
            isReported = true;
            running.blocked(hook, thread, nowNanos - since);
        }
    }
}
