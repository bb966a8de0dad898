package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.AccessLogFormat;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one of several access logs. Immutable.
 *
 * @param name name in metrics and messages; unique
 * @param format the line format
 * @param filter the condition for a line; null for all requests
 * @param sampleRate N, if the log has one of every N lines that the filter accepts; 1 for all
 * @param sampleBy the choice of these lines
 * @param destination the target of the lines
 */
public record LogOutputConfig(
        String name,
        AccessLogFormat format,
        @Nullable Expression<LoggedFacts> filter,
        int sampleRate,
        SampleBy sampleBy,
        LogDestination destination) {}
