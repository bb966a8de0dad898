package io.millrace.proxy.extension;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.spi.Extension;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An open extension, with the statistics and the circuit breaker of each hook. Every call of a hook lies between
 * {@link #begin} and {@link #end}. {@link #succeeded} or {@link #failed} reports its result.
 *
 * <p>Thread-safe.
 */
public final class LoadedExtension {
    private final int index;
    private final ExtensionEntry entry;
    private final List<Hook> hooks;
    private final Map<Hook, HookStatistics> figures = new EnumMap<>(Hook.class);
    private final Map<Hook, CircuitBreaker> breakers = new EnumMap<>(Hook.class);
    private final FastThreadLocal<RunningHook> running;
    private final ExtensionReports reports;
    private final LongSupplier nanoTime;
    private final @Nullable FieldEdits constants;
    private volatile String lastFailure = "";
    private volatile long lastFailureMillis;

    /**
     * @param index position in the order of the configuration, from 0
     * @param constants the constant changes to every response, which replace calls of the deliver hook; null for none
     */
    LoadedExtension(
            int index,
            ExtensionEntry entry,
            @Nullable FieldEdits constants,
            FastThreadLocal<RunningHook> running,
            ExtensionReports reports,
            LongSupplier nanoTime) {
        this.index = index;
        this.entry = entry;
        this.constants = constants;
        this.running = running;
        this.reports = reports;
        this.nanoTime = nanoTime;
        this.hooks = Hook.of(entry.extension());
        for (Hook hook : hooks) {
            figures.put(hook, new HookStatistics());
            breakers.put(hook, new CircuitBreaker(nanoTime));
        }
    }

    /** The object and its settings. */
    public ExtensionEntry entry() {
        return entry;
    }

    /** The name of the entry. */
    public String name() {
        return entry.name();
    }

    /** The position in the order of the configuration, from 0. */
    int index() {
        return index;
    }

    Extension extension() {
        return entry.extension();
    }

    /** The hooks that the extension implements, in the order in which a request calls them. */
    public List<Hook> hooks() {
        return hooks;
    }

    /** The constant changes to every response, which replace calls of the deliver hook; null if that hook is called. */
    @Nullable
    FieldEdits constants() {
        return constants;
    }

    /** Returns the statistics of a hook that the extension implements. */
    public HookStatistics figures(Hook hook) {
        HookStatistics found = figures.get(hook);
        if (found == null) {
            throw new IllegalArgumentException("extension " + name() + " has no hook " + hook.label());
        }
        return found;
    }

    /** Returns true while the circuit breaker of at least one hook permits no calls except trials. */
    public boolean isCircuitOpen() {
        return breakers.values().stream().anyMatch(CircuitBreaker::isOpen);
    }

    /**
     * Returns true while the circuit breaker of a hook permits no calls except trials. The extension must implement the
     * hook.
     */
    public boolean isCircuitOpen(Hook hook) {
        return breaker(hook).isOpen();
    }

    private CircuitBreaker breaker(Hook hook) {
        CircuitBreaker found = breakers.get(hook);
        if (found == null) {
            throw new IllegalArgumentException("extension " + name() + " has no hook " + hook.label());
        }
        return found;
    }

    /** One sentence about the last failure; empty if there was none. */
    public String lastFailure() {
        return lastFailure;
    }

    /** The time of the last failure, in epoch milliseconds; 0 if there was none. */
    public long lastFailureMillis() {
        return lastFailureMillis;
    }

    /** Returns the effect of a failure of a hook. */
    OnError onError(Hook hook) {
        OnError set = entry.onError();
        return set == null ? hook.onError() : set;
    }

    /** Returns true if the hook may be called. If its circuit breaker is open, counts a failure and returns false. */
    boolean admits(Hook hook) {
        if (breaker(hook).admits()) {
            return true;
        }
        figures(hook).failed(FailureReason.CIRCUIT_OPEN);
        return false;
    }

    /** Returns the time for {@link #begin} and {@link #end}, in nanoseconds. */
    long now() {
        return nanoTime.getAsLong();
    }

    /**
     * Records that a call begins on this thread. Call it inside the {@code try} block that records failures of the
     * hook.
     */
    void begin(Hook hook, long nowNanos) {
        running.get().begin(this, hook, nowNanos);
    }

    /** Records that a call on this thread has ended, with any result. */
    void end(Hook hook, long beganNanos) {
        running.get().end();
        figures(hook).called(nanoTime.getAsLong() - beganNanos);
    }

    /** Records that a hook has succeeded. */
    void succeeded(Hook hook) {
        if (breaker(hook).succeeded()) {
            reports.event(EventKind.EXTENSION_UP, name(), "the hook " + hook.label() + " is called again");
        }
    }

    /**
     * Records a failure. Opens the circuit breaker after {@link CircuitBreaker#FAILURES_MAX} failures in succession.
     */
    void failed(Hook hook, FailureReason reason, @Nullable Throwable cause) {
        recordFailure(hook, reason, cause);
        if (breaker(hook).failed()) {
            reports.event(
                    EventKind.EXTENSION_DOWN,
                    name(),
                    CircuitBreaker.FAILURES_MAX + " calls of the hook " + hook.label()
                            + " failed in succession; it is tried again every "
                            + CircuitBreaker.OPEN_NANOS / 1_000_000_000L + " s");
        }
    }

    /** Records the failure of a hook that threw an exception. */
    void failed(Hook hook, Throwable cause) {
        failed(hook, cause instanceof HookLimitException ? FailureReason.LIMIT : FailureReason.EXCEPTION, cause);
    }

    /** Records a failure that has no effect on the circuit breaker. */
    void recordFailure(Hook hook, FailureReason reason, @Nullable Throwable cause) {
        figures(hook).failed(reason);
        lastFailureMillis = reports.nowMillis();
        lastFailure = hook.label() + ": " + reason.label() + (cause == null ? "" : ": " + cause);
        reports.failure(name(), hook, reason, cause);
    }

    /** Records that a hook has occupied its thread for too long. Called by the task that finds blocked event loops. */
    void blocked(Hook hook, String thread, long forNanos) {
        recordFailure(hook, FailureReason.BLOCKED, null);
        reports.event(
                EventKind.EXTENSION_BLOCKS,
                name(),
                "the hook " + hook.label() + " has been running on " + thread + " for " + forNanos / 1_000_000
                        + " ms; all connections of this thread wait");
    }
}
