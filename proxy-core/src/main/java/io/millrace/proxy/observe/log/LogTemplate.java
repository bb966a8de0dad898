package io.millrace.proxy.observe.log;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.observe.log.LogCapture.Source;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line format in Traffic Server's syntax: text with fields {@code %<code>} and {@code %<{Name}code>}. A
 * template is compiled to pieces, each of which writes a part of the line. Quotes are escaped in a field
 * within double quotes. Any other field is written as one word without blanks.
 *
 * <p>Immutable.
 */
final class LogTemplate {
    /** Writes one part of a line. Confined to one thread. */
    interface Piece {
        void append(LoggedRecord logged, LineBuffer out);
    }

    /**
     * Limit of the template's length in characters. The literal text must fit in a line together with the longest
     * fields.
     */
    private static final int LENGTH_MAX = 4096;

    /** The fields of a record that contain captured header fields, in the order of their assignment. */
    static final LogField[] SLOTS = {
        LogField.FIELD_1,
        LogField.FIELD_2,
        LogField.FIELD_3,
        LogField.FIELD_4,
        LogField.FIELD_5,
        LogField.FIELD_6,
        LogField.FIELD_7,
        LogField.FIELD_8
    };

    private final String text;
    private final List<LogCapture> captures;
    private final boolean showsTls;
    private final int maxLineBytes;

    private LogTemplate(String text, List<LogCapture> captures, boolean showsTls, int maxLineBytes) {
        this.text = text;
        this.captures = captures;
        this.showsTls = showsTls;
        this.maxLineBytes = maxLineBytes;
    }

    static LogTemplate parse(String text) throws LogTemplateException {
        if (text.length() > LENGTH_MAX) {
            throw problem("the template has " + text.length() + " characters, the limit is " + LENGTH_MAX);
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
                throw problem("character " + (i + 1) + " of the template is not printable ASCII");
            }
        }
        Compiler compiler = new Compiler(text, new ArrayList<>());
        compiler.compile();
        return new LogTemplate(
                text, List.copyOf(compiler.captures), compiler.showsTls, compiler.maxLineBytes + text.length() + 1);
    }

    private static LogTemplateException problem(String message) {
        return new LogTemplateException(message, "", List.of());
    }

    List<LogCapture> captures() {
        return captures;
    }

    /** Returns true if lines contain properties of the client's TLS connection. */
    boolean showsTls() {
        return showsTls;
    }

    /**
     * Creates a formatter of lines that is confined to one thread.
     *
     * @param assigned the header fields in the records, for all templates together; empty if the records are
     * written for this template only
     */
    LineFormat lines(List<LogCapture> assigned) {
        Compiler compiler = new Compiler(text, new ArrayList<>(assigned));
        try {
            compiler.compile();
        } catch (LogTemplateException e) {
            throw new IllegalStateException("the template was compiled before", e);
        }
        return new TemplateLines(
                compiler.pieces.toArray(new Piece[0]), Math.max(LineBuffer.MAX_LINE_BYTES, maxLineBytes));
    }

    /** Parses a template from left to right. */
    private static final class Compiler {
        private final String text;
        private final List<LogCapture> captures;
        private final List<Piece> pieces = new ArrayList<>();
        /** True if the template, up to the current position, has an opening double quote without a closing one. */
        private boolean quoted;

        private boolean showsTls;
        private int maxLineBytes;

        Compiler(String text, List<LogCapture> captures) {
            this.text = text;
            this.captures = captures;
        }

        void compile() throws LogTemplateException {
            int position = 0;
            while (position < text.length()) {
                int field = text.indexOf("%<", position);
                int end = field < 0 ? text.length() : field;
                literal(text.substring(position, end));
                if (field < 0) {
                    return;
                }
                int close = text.indexOf('>', field);
                if (close < 0) {
                    throw problem("the field at character " + (field + 1) + " has no '>'");
                }
                field(text.substring(field + 2, close), field + 1);
                position = close + 1;
            }
        }

        private void literal(String literal) {
            if (literal.isEmpty()) {
                return;
            }
            byte[] bytes = literal.getBytes(StandardCharsets.US_ASCII);
            pieces.add((logged, out) -> out.put(bytes));
            quoted ^= literal.chars().filter(c -> c == '"').count() % 2 == 1;
        }

        private void field(String code, int column) throws LogTemplateException {
            if (code.startsWith("{")) {
                headerField(code, column);
                return;
            }
            Piece piece = LogCodes.piece(code, quoted);
            if (piece == null) {
                throw unknown(code, column, LogCodes.names());
            }
            maxLineBytes += LogCodes.maxBytes(code);
            showsTls |= LogCodes.isOfTls(code);
            pieces.add(piece);
        }

        private void headerField(String code, int column) throws LogTemplateException {
            int brace = code.indexOf('}');
            String name = code.substring(1, Math.max(1, brace));
            FieldName field = brace < 0 ? null : fieldName(name);
            if (field == null) {
                throw problem("'%<" + code + ">' at character " + column + " does not begin with {Field-Name}");
            }
            // In Traffic Server, a prefix e, as in ecqh, requests that the value is escaped. This log escapes all
            // values. Here the prefix means that the value is written as one word even within quotes.
            String kind = code.substring(brace + 1);
            boolean escaped = kind.startsWith("e");
            for (Source source : Source.values()) {
                if (source.code().equals(escaped ? kind.substring(1) : kind)) {
                    LogField slot = slot(source, field, column);
                    pieces.add(LogCodes.text(slot, quoted && !escaped));
                    maxLineBytes += 4 * slot.maxBytes() + 3;
                    return;
                }
            }
            throw unknown(kind, column, List.of("cqh", "ssh", "cssh", "psh", "ecqh", "essh", "ecssh", "epsh"));
        }

        private static @Nullable FieldName fieldName(String name) {
            byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
            return FieldName.of(bytes, 0, bytes.length);
        }

        /**
         * Returns the field of the record for a header field. Referer and User-Agent of requests have constants of
         * their own.
         */
        private LogField slot(Source source, FieldName name, int column) throws LogTemplateException {
            if (source == Source.CLIENT_REQUEST && name.equals(FieldName.REFERER)) {
                return LogField.REFERER;
            }
            if (source == Source.CLIENT_REQUEST && name.equals(FieldName.USER_AGENT)) {
                return LogField.USER_AGENT;
            }
            for (LogCapture capture : captures) {
                if (capture.source() == source && capture.name().equals(name)) {
                    return capture.slot();
                }
            }
            if (captures.size() == SLOTS.length) {
                throw problem("the header field at character " + column + " exceeds the limit; besides Referer and "
                        + "User-Agent the limit is " + SLOTS.length);
            }
            LogCapture capture = new LogCapture(source, name, SLOTS[captures.size()]);
            captures.add(capture);
            return capture.slot();
        }

        private static LogTemplateException unknown(String code, int column, List<String> known) {
            return new LogTemplateException(
                    "'" + code + "' at character " + column + " is not a log field", code, known);
        }
    }

    /** The formatter of a compiled template. */
    static final class TemplateLines implements LineFormat {
        private final Piece[] pieces;
        private final int maxLineBytes;

        private TemplateLines(Piece[] pieces, int maxLineBytes) {
            this.pieces = pieces;
            this.maxLineBytes = maxLineBytes;
        }

        @Override
        public int maxLineBytes() {
            return maxLineBytes;
        }

        @Override
        public void append(LoggedRecord logged, LineBuffer out) {
            for (Piece piece : pieces) {
                piece.append(logged, out);
            }
            out.endLine();
        }
    }
}
