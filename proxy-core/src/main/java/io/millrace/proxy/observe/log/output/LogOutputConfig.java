package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LogCapture;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one access log. Immutable.
 *
 * @param name the unique name of the log in metrics and messages
 * @param format the line format; not used for an extension
 * @param filter requests that fulfil this condition are logged; null for all requests
 * @param sampleRate the number N: the log contains one of every N lines that the filter accepts; 1 for all lines
 * @param sampleBy how the lines of the sample are chosen
 * @param destination the target of the lines
 */
public record LogOutputConfig(
        String name,
        AccessLogFormat format,
        @Nullable Expression<LoggedFacts> filter,
        int sampleRate,
        SampleBy sampleBy,
        LogDestination destination) {
    /** Returns the conversion of records to the format of the destination. Each log needs its own object. */
    LineFormat lines(List<LogCapture> captures) {
        return destination instanceof LogDestination.ToExtension ? AccessLogFormat.copies() : format.lines(captures);
    }

    /** Returns true if the destination gets properties of the client's TLS connection. */
    boolean showsTls() {
        return destination instanceof LogDestination.ToExtension
                || format.showsTls()
                || (filter != null && filter.names(LoggedFields::isOfTls));
    }
}
