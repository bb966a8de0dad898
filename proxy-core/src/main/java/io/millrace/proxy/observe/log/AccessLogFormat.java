package io.millrace.proxy.observe.log;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a line of the access log looks: one of the named formats, or a template of {@code %<code>} fields as Traffic Server has them.
 * {@code docs/reference/logs.md} draws the formats and lists the codes. Immutable; equal when written the same.
 */
public final class AccessLogFormat {
    /** The format of Squid and Traffic Server: result codes of the TCP_HIT family, sizes with the head. */
    public static final AccessLogFormat SQUID = new AccessLogFormat("squid", null);
    /** Apache's combined format: sizes without the head, Referer and User-Agent quoted. */
    public static final AccessLogFormat COMBINED = new AccessLogFormat("combined", null);
    /** The common format of web servers, as Traffic Server writes it: with the whole URL. */
    public static final AccessLogFormat COMMON = new AccessLogFormat(
            "common", template("%<chi> - %<caun> [%<cqtn>] \"%<cqhm> %<pqu> %<cqpv>\" %<pssc> %<pscl>"));
    /** One JSON object for each line. */
    public static final AccessLogFormat JSON = new AccessLogFormat("json", null);

    /** The named ones. */
    public static final List<AccessLogFormat> NAMED = List.of(SQUID, COMBINED, COMMON, JSON);

    private final String text;
    private final @Nullable LogTemplate template;

    private AccessLogFormat(String text, @Nullable LogTemplate template) {
        this.text = text;
        this.template = template;
    }

    private static LogTemplate template(String text) {
        try {
            return LogTemplate.parse(text);
        } catch (LogTemplateException e) {
            throw new IllegalStateException(text, e);
        }
    }

    /**
     * The format of that name, or the template.
     *
     * @throws LogTemplateException when it is neither; the message says which character is wrong
     */
    public static AccessLogFormat of(String text) throws LogTemplateException {
        for (AccessLogFormat named : NAMED) {
            if (named.text.equals(text)) {
                return named;
            }
        }
        if (text.indexOf("%<") < 0) {
            List<String> names = NAMED.stream().map(AccessLogFormat::toString).toList();
            throw new LogTemplateException(
                    "'" + text + "' is none of " + String.join(", ", names)
                            + ", and not a template with %<code> fields",
                    text,
                    names);
        }
        return new AccessLogFormat(text, LogTemplate.parse(text));
    }

    /** The header fields that the event loop must put into each record for this format. */
    List<LogCapture> captures() {
        return template == null ? List.of() : template.captures();
    }

    /** Whether records need the texts about the client's TLS connection. */
    boolean showsTls() {
        return template == null ? equals(JSON) : template.showsTls();
    }

    /** What writes the lines; one for each writer. */
    LineFormat lines() {
        if (template != null) {
            return template.lines();
        }
        if (equals(SQUID)) {
            return new SquidLines();
        }
        return equals(COMBINED) ? new CombinedLines() : new JsonLines();
    }

    /** The name or the template. */
    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AccessLogFormat that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}
