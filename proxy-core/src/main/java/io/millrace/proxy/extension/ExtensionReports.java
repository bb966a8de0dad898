package io.millrace.proxy.extension;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The log lines and events about extensions. Thread-safe. */
final class ExtensionReports {
    private static final Logger log = LoggerFactory.getLogger("io.millrace.extension");
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final FaultLog faults = new FaultLog(log, QUIET_NANOS, System::nanoTime);
    private final LongSupplier clock;
    private final EventSink events;

    /** @param clock the wall clock, in epoch milliseconds */
    ExtensionReports(LongSupplier clock, EventSink events) {
        this.clock = clock;
        this.events = events;
    }

    long nowMillis() {
        return clock.getAsLong();
    }

    /** Logs a failure, at most once a minute for each extension, hook and reason. */
    void failure(String name, Hook hook, FailureReason reason, @Nullable Throwable cause) {
        faults.report("extension " + name + " failed in " + hook.label() + ": " + reason.label(), null, cause);
    }

    /** Logs the failure of a task of an extension, at most once a minute for each extension. */
    void taskFailure(String name, Throwable cause) {
        faults.report("extension " + name + " failed in a task of its executor", null, cause);
    }

    void event(EventKind kind, String name, String text) {
        log.warn("extension {}: {}", name, text);
        events.record(new Event(clock.getAsLong(), kind, "extension " + name, text));
    }
}
