package io.millrace.proxy.extension;

import io.millrace.proxy.extension.trail.HookTrail;
import org.jspecify.annotations.Nullable;

/**
 * The hook that one thread is running, for the task that finds blocked event loops.
 *
 * <p>Written by that thread, read by any thread.
 */
final class RunningHook {
    private final String thread;
    private final @Nullable HookTrail trail;
    private final int slot;
    private Hook hook = Hook.DELIVER;
    private long sinceNanos;
    /** Written last when a call begins, so that a reader that sees it also sees the other values. */
    private volatile @Nullable LoadedExtension extension;
    /** Start time of the call that was reported last. Used only by the task that finds blocked event loops. */
    private long reportedNanos;

    private boolean isReported;

    /** @param trail records the hook in a file that outlives the process; null for none */
    RunningHook(String thread, @Nullable HookTrail trail) {
        this.thread = thread;
        this.trail = trail;
        this.slot = trail == null ? -1 : trail.newSlot();
    }

    /** Records that the thread calls a hook. */
    @SuppressWarnings("EnumOrdinal") // the file of the trail has the names
    void begin(LoadedExtension called, Hook calledHook, long nowNanos) {
        if (trail != null) {
            trail.begin(slot, called.index(), calledHook.ordinal());
        }
        hook = calledHook;
        sinceNanos = nowNanos;
        extension = called;
    }

    /** Records that the call has ended. */
    void end() {
        extension = null;
        if (trail != null) {
            trail.end(slot);
        }
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
