package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.AccessLogFormat;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one access log. Immutable.
 *
 * @param name the unique name of the log in metrics and messages
 * @param format the line format
 * @param filter requests that fulfil this condition are logged; null for all requests
 * @param sampleRate the number N: the log has one of every N lines that the filter accepts; 1 for all lines
 * @param sampleBy the way in which these lines are chosen
 * @param destination the target of the lines
 */
public record LogOutputConfig(
        String name,
        AccessLogFormat format,
        @Nullable Expression<LoggedFacts> filter,
        int sampleRate,
        SampleBy sampleBy,
        LogDestination destination) {}
