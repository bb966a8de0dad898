package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LogCapture;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.observe.log.target.LineHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One access log: its filter, its sample, its format, and the queue to its sender thread. Confined to the dispatcher
 * thread, which distributes records to the logs.
 */
final class LogOutput {
    private final LogOutputConfig config;
    private final LogSender sender;
    private final LogCounts counts;
    private final LineHead head;
    private final LineFormat format;
    private final @Nullable Expression<LoggedFacts> filter;
    private final LogSample sample;
    private boolean hasLines;

    /** @param captures header fields that the records contain, for the formats of all logs together */
    LogOutput(LogOutputConfig config, LogSender sender, LogCounts counts, LineHead head, List<LogCapture> captures) {
        this.config = config;
        this.sender = sender;
        this.counts = counts;
        this.head = head;
        format = config.lines(captures);
        filter = config.filter();
        sample = new LogSample(config.sampleRate(), config.sampleBy());
    }

    LogOutputConfig config() {
        return config;
    }

    LogSender sender() {
        return sender;
    }

    LogCounts counts() {
        return counts;
    }

    /** Puts the line of a record into the queue if filter and sample accept the record. */
    void accept(LoggedRecord logged, LoggedFacts facts, FaultLog faults) {
        try {
            if (filter != null && !filter.test(facts)) {
                counts.filtered();
            } else if (!sample.includes(logged)) {
                counts.sampledOut();
            } else {
                logged.sampleRate(config.sampleRate());
                sender.append(logged, head, format);
                hasLines = true;
            }
        } catch (RuntimeException e) {
            // A record that cannot be formatted must not stop the logs.
            counts.lost(1);
            faults.report("an access log record cannot be formatted", config.name(), e);
        }
    }

    /** Wakes the sender if it has new lines. */
    void endBatch() {
        if (hasLines) {
            hasLines = false;
            sender.wake();
        }
    }
}
