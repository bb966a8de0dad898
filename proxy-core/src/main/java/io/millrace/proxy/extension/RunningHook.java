package io.millrace.proxy.extension;

import io.millrace.proxy.extension.trail.HookTrail;
import org.jspecify.annotations.Nullable;

/**
 * The hook that one thread runs now, for the watch that finds blocked event loops.
 *
 * <p>The thread writes it; any thread reads it.
 */
final class RunningHook {
    private final String thread;
    private final @Nullable HookTrail trail;
    private final int slot;
    private Hook hook = Hook.DELIVER;
    private long sinceNanos;
    /** Written last at the begin, so that a reader that sees it also sees the other values. */
    private volatile @Nullable LoadedExtension extension;
    /** The begin of the call that the watch has reported; used by the watch only. */
    private long reportedNanos;

    private boolean isReported;

    /** @param trail notes the hook for the time after the end of the process; null for none */
    RunningHook(String thread, @Nullable HookTrail trail) {
        this.thread = thread;
        this.trail = trail;
        this.slot = trail == null ? -1 : trail.newSlot();
    }

    @SuppressWarnings("EnumOrdinal") // the file of the trail has the names
    void begin(LoadedExtension called, Hook at, long nowNanos) {
        if (trail != null) {
            trail.begin(slot, called.index(), at.ordinal());
        }
        hook = at;
        sinceNanos = nowNanos;
        extension = called;
    }

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
