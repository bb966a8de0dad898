package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.log.block.BlockSchema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A format of the access log: a named format, or a template in Traffic Server's syntax. A template contains
 * {@code %<code>} fields. {@code docs/reference/logs.md} shows the formats and lists the codes. Immutable; formats
 * are equal if their texts are equal.
 */
public final class AccessLogFormat {
    /** The format of Squid and Traffic Server: result codes such as TCP_HIT, sizes including the head. */
    public static final AccessLogFormat SQUID = new AccessLogFormat("squid", null);
    /** Apache's combined format: sizes without the head, quoted Referer and User-Agent. */
    public static final AccessLogFormat COMBINED = new AccessLogFormat("combined", null);
    /** The common format of web servers, as in Traffic Server, with the complete URL. */
    public static final AccessLogFormat COMMON = new AccessLogFormat(
            "common", template("%<chi> - %<caun> [%<cqtn>] \"%<cqhm> %<pqu> %<cqpv>\" %<pssc> %<pscl>"));
    /** One JSON object per line. */
    public static final AccessLogFormat JSON = new AccessLogFormat("json", null);

    /** Blocks for {@code millctl log cat}, only in files. Contains all values except header fields of templates. */
    public static final AccessLogFormat BINARY = new AccessLogFormat("binary", null);

    /** The named text formats. */
    public static final List<AccessLogFormat> NAMED = List.of(SQUID, COMBINED, COMMON, JSON);

    private final String text;
    private final @Nullable LogTemplate template;

    /** The codes of the values in a binary log; empty if the log contains all values, and for text formats. */
    private final List<String> fields;

    private AccessLogFormat(String text, @Nullable LogTemplate template) {
        this(text, template, List.of());
    }

    private AccessLogFormat(String text, @Nullable LogTemplate template, List<String> fields) {
        this.text = text;
        this.template = template;
        this.fields = fields;
    }

    private static LogTemplate template(String text) {
        try {
            return LogTemplate.parse(text);
        } catch (LogTemplateException e) {
            throw new IllegalStateException(text, e);
        }
    }

    /**
     * Returns the format with the given name, or parses the text as a template.
     *
     * @throws LogTemplateException if the text is neither a name nor a valid template; the message gives the
     * position of the error
     */
    public static AccessLogFormat of(String text) throws LogTemplateException {
        List<AccessLogFormat> known = new ArrayList<>(NAMED);
        known.add(BINARY);
        for (AccessLogFormat named : known) {
            if (named.text.equals(text)) {
                return named;
            }
        }
        if (text.indexOf("%<") < 0) {
            List<String> names = known.stream().map(AccessLogFormat::toString).toList();
            throw new LogTemplateException(
                    "'" + text + "' is none of " + String.join(", ", names)
                            + ", and not a template with %<code> fields",
                    text,
                    names);
        }
        return new AccessLogFormat(text, LogTemplate.parse(text));
    }

    /**
     * Returns a binary format that contains only the time and these values.
     *
     * @param codes codes of templates without {@code %<>}, such as {@code chi} or {@code {Accept}cqh}
     * @throws LogTemplateException if a code is unknown, or there are too many header fields
     */
    public static AccessLogFormat binary(List<String> codes) throws LogTemplateException {
        if (codes.isEmpty()) {
            return BINARY;
        }
        LogTemplate template = LogTemplate.parse("%<" + String.join("> %<", codes) + ">");
        return new AccessLogFormat(BINARY.text, template, List.copyOf(codes));
    }

    /** Returns true if the log consists of blocks instead of lines. */
    public boolean isBinary() {
        return text.equals(BINARY.text);
    }

    /** Returns true if each line or row contains the number of requests that it represents. */
    public boolean hasSample() {
        return isBinary() ? fields.isEmpty() || fields.contains("sample") : equals(JSON) || text.contains("%<sample>");
    }

    /** Returns the schema of a binary log. */
    BlockSchema schema() {
        if (!isBinary()) {
            throw new IllegalStateException(text + " has no schema");
        }
        return BinaryLines.schema(fields, captures());
    }

    /** The header fields that the event loop must copy into each record for this format. */
    public List<LogCapture> captures() {
        return template == null ? List.of() : template.captures();
    }

    /**
     * Assigns a field of the log record to each header field that the formats name.
     *
     * @throws LogTemplateException if the formats together name more header fields than a record has
     */
    public static List<LogCapture> capturesOf(Collection<AccessLogFormat> formats) throws LogTemplateException {
        List<LogCapture> all = new ArrayList<>();
        for (AccessLogFormat format : formats) {
            for (LogCapture capture : format.captures()) {
                if (all.stream().noneMatch(known -> known.isSameField(capture))) {
                    LogField slot = LogTemplate.SLOTS[Math.min(all.size(), LogTemplate.SLOTS.length - 1)];
                    all.add(new LogCapture(capture.source(), capture.name(), slot));
                }
            }
        }
        if (all.size() > LogTemplate.SLOTS.length) {
            throw new LogTemplateException(
                    "the templates of all logs name " + all.size() + " header fields besides Referer and User-Agent,"
                            + " the limit is " + LogTemplate.SLOTS.length,
                    "",
                    List.of());
        }
        return List.copyOf(all);
    }

    /** Returns true if the format shows properties of the client's TLS connection. */
    public boolean showsTls() {
        return template == null ? equals(JSON) || equals(BINARY) : template.showsTls();
    }

    /** Creates a formatter of lines. Each writer needs its own formatter. */
    LineFormat lines() {
        return lines(List.of());
    }

    /**
     * Creates a formatter of lines for one of several logs. Each log needs its own formatter.
     *
     * @param assigned the result of {@link #capturesOf} for the formats of all logs
     */
    public LineFormat lines(List<LogCapture> assigned) {
        if (isBinary()) {
            return new BinaryLines(fields, captures(), assigned);
        }
        if (template != null) {
            return template.lines(assigned);
        }
        if (equals(SQUID)) {
            return new SquidLines();
        }
        return equals(COMBINED) ? new CombinedLines() : new JsonLines();
    }

    /** Creates a conversion that copies records without change, for {@link LoggedRecord.Copies}. */
    public static LineFormat copies() {
        return new LoggedRecord.CopyFormat();
    }

    /** Returns the name or the template; {@code binary} for each binary format. */
    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AccessLogFormat that && text.equals(that.text) && fields.equals(that.fields);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}
