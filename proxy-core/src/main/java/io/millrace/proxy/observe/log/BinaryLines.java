package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.block.BlockEncoder;
import io.millrace.proxy.observe.log.block.BlockLayout;
import io.millrace.proxy.observe.log.block.BlockSchema;
import io.millrace.proxy.observe.log.block.Column;
import io.millrace.proxy.observe.log.block.ColumnType;
import io.millrace.proxy.observe.log.block.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The {@code binary} format: the records of a batch become blocks, as {@link BlockLayout} describes them. A block is
 * complete when it is full, or when the writer thread calls {@link LineBuffer#completeBlock}.
 */
final class BinaryLines implements LineFormat {
    private static final byte[][] CACHE_WORDS = Arrays.stream(CacheResult.values())
            .map(result -> ascii(result.word()))
            .toArray(byte[][]::new);
    private static final byte[][] OUTCOME_NAMES =
            Arrays.stream(LogOutcome.values()).map(BinaryLines::ascii).toArray(byte[][]::new);
    private static final byte[][] HIERARCHY_NAMES =
            Arrays.stream(LogHierarchy.values()).map(BinaryLines::ascii).toArray(byte[][]::new);

    /** The columns that are not header fields, in order. The columns of header fields follow; see {@link #slots}. */
    private final LogColumn[] columns;

    /**
     * For each captured header field, the field of records that contains its value. Their columns follow {@link
     * #columns}.
     */
    private final LogField[] slots;

    private final Row row;
    private final BlockEncoder encoder;

    /**
     * @param fields codes of log templates, such as {@code chi}, for the values to store; empty to store all columns
     * @param captures the header fields to store
     * @param assigned captures of all logs that share the records, with their slots; empty if only this log uses the
     *     records
     */
    BinaryLines(List<String> fields, List<LogCapture> captures, List<LogCapture> assigned) {
        columns = columnsOf(fields).toArray(new LogColumn[0]);
        slots = new LogField[captures.size()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = slotOf(captures.get(i), assigned);
        }
        encoder = new BlockEncoder(schema(fields, captures));
        row = new Row(encoder.schema());
    }

    private static byte[] ascii(Enum<?> constant) {
        return ascii(constant.name().toLowerCase(Locale.ROOT));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static LogField slotOf(LogCapture capture, List<LogCapture> assigned) {
        for (LogCapture other : assigned) {
            if (other.isSameField(capture)) {
                return other.slot();
            }
        }
        return capture.slot();
    }

    private static Set<LogColumn> columnsOf(List<String> fields) {
        if (fields.isEmpty()) {
            return EnumSet.allOf(LogColumn.class);
        }
        Set<LogColumn> needed = EnumSet.of(LogColumn.TIME);
        // The prefix e of a code only changes the escapes in lines of text.
        fields.forEach(code -> needed.addAll(LogColumn.of(code.replace("}ecqh", "}cqh"))));
        return needed;
    }

    /** Returns the schema of a log with these fields. */
    static BlockSchema schema(List<String> fields, List<LogCapture> captures) {
        List<Column> all = new ArrayList<>();
        columnsOf(fields).forEach(column -> all.add(column.column()));
        for (LogCapture capture : captures) {
            all.add(new Column(capture.code(), ColumnType.TEXT, false));
        }
        return new BlockSchema(all);
    }

    @Override
    public int maxLineBytes() {
        return BlockLayout.HEAD_BYTES + encoder.maxRowBytes(AccessLogRecord.MAX_LENGTH);
    }

    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        if (out.openBlock() != this || encoder.isFull(out.length())) {
            out.completeBlock();
            out.advance(encoder.begin(out.length()));
            out.openBlock(this);
        }
        int start = out.length();
        try {
            fill(logged);
            out.advance(encoder.append(row, out.array(), start));
            out.endRow();
        } catch (RuntimeException e) {
            out.truncate(start);
            out.completeBlock();
            throw e;
        }
    }

    /** The position of the current block in the buffer. */
    int blockStart() {
        return encoder.blockStart();
    }

    /** Writes the head of the current block. Discards the block if it has no rows. */
    void complete(LineBuffer out) {
        if (encoder.rows() == 0) {
            out.truncate(encoder.blockStart());
        } else {
            encoder.complete(out.array(), out.length());
        }
    }

    private void fill(LoggedRecord logged) {
        for (int i = 0; i < columns.length; i++) {
            LogColumn column = columns[i];
            LogField text = column.text();
            if (text != null) {
                text(i, logged, text);
            } else if (column.type().isBytes()) {
                fillCalculated(i, column, logged);
            } else {
                row.number(i, number(column, logged));
            }
        }
        for (int i = 0; i < slots.length; i++) {
            text(columns.length + i, logged, slots[i]);
        }
    }

    private void text(int index, LoggedRecord logged, LogField field) {
        row.text(index, logged.bytes(), logged.textStart(field), logged.textLength(field), logged.isTruncated(field));
    }

    private void word(int index, byte[] word) {
        row.text(index, word, 0, word.length, false);
    }

    @SuppressWarnings("EnumOrdinal") // index of an array made from values()
    private void fillCalculated(int index, LogColumn column, LoggedRecord logged) {
        int start = Math.max(0, logged.textStart(LogField.URL));
        int length = Math.max(0, logged.textLength(LogField.URL));
        switch (column) {
            case CLIENT -> row.text(index, logged.bytes(), logged.clientStart(), logged.clientLength(), false);
            case CACHE -> word(index, CACHE_WORDS[logged.cacheResult().ordinal()]);
            case OUTCOME -> word(index, OUTCOME_NAMES[logged.outcome().index()]);
            case HIERARCHY -> word(index, HIERARCHY_NAMES[logged.hierarchy().index()]);
            case SITE -> {
                int path = CombinedLines.pathOffset(logged.bytes(), start, length);
                row.text(index, logged.bytes(), start, path, false);
            }
            case TARGET -> {
                int path = CombinedLines.pathOffset(logged.bytes(), start, length);
                row.text(index, logged.bytes(), start + path, length - path, logged.isTruncated(LogField.URL));
            }
            default -> throw new IllegalStateException("not a calculated text: " + column);
        }
    }

    private static long number(LogColumn column, LoggedRecord logged) {
        return switch (column) {
            case TIME -> logged.receivedAtMillis();
            case DURATION -> TimeUnit.NANOSECONDS.toMicros(logged.durationNanos());
            case FIRST_BYTE -> TimeUnit.NANOSECONDS.toMicros(logged.firstByteNanos());
            case HEAD_BYTES -> logged.headBytes();
            case BODY_BYTES -> logged.bodyBytes();
            case RECEIVED_BYTES -> logged.receivedBytes();
            case STATUS -> logged.status();
            case ORIGIN_STATUS -> logged.originStatus();
            case FLAGS -> flags(logged);
            case VERSION -> logged.majorVersion() * 2L + logged.minorVersion();
            case ORIGIN_VERSION -> logged.originMajorVersion() * 2L + logged.originMinorVersion();
            case SAMPLE -> logged.sampleRate();
            default -> throw new IllegalStateException("not a number: " + column);
        };
    }

    private static long flags(LoggedRecord logged) {
        return (logged.isFromRam() ? LogColumn.RAM : 0)
                | (logged.isCollapsed() ? LogColumn.COLLAPSED : 0)
                | (logged.isNotModified() ? LogColumn.NOT_MODIFIED : 0)
                | (logged.isSecure() ? LogColumn.SECURE : 0);
    }
}
