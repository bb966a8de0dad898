package io.millrace.proxy.observe.log.reader;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogCapture;
import io.millrace.proxy.observe.log.LogColumn;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogHierarchy;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.observe.log.block.BlockSchema;
import io.millrace.proxy.observe.log.block.Column;
import io.millrace.proxy.observe.log.block.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Converts the rows of a binary log back to records. A value without a column is absent in the record. Columns that
 * this version does not know are ignored. Confined to one thread.
 */
final class RowRecords {
    private static final Map<String, CacheResult> CACHE_RESULTS = new HashMap<>();
    private static final Map<String, LogOutcome> OUTCOMES = new HashMap<>();
    private static final Map<String, LogHierarchy> HIERARCHIES = new HashMap<>();

    static {
        for (CacheResult result : CacheResult.values()) {
            CACHE_RESULTS.put(result.word(), result);
        }
        for (LogOutcome outcome : LogOutcome.values()) {
            OUTCOMES.put(outcome.name().toLowerCase(Locale.ROOT), outcome);
        }
        for (LogHierarchy hierarchy : LogHierarchy.values()) {
            HIERARCHIES.put(hierarchy.name().toLowerCase(Locale.ROOT), hierarchy);
        }
    }

    /** A column whose value is a text field of the record. */
    private record TextColumn(int index, LogField field) {}

    /** A column whose value is not a text field of the record. */
    private record OtherColumn(int index, LogColumn meaning) {}

    private final List<TextColumn> texts = new ArrayList<>();
    private final List<OtherColumn> others = new ArrayList<>();
    private final AccessLogRing ring;
    private final int siteColumn;
    private final int targetColumn;
    private int sampleRate = 1;

    /** @param wanted the header fields that records must contain, if the log has columns for them */
    RowRecords(BlockSchema schema, List<LogCapture> wanted) {
        ring = new AccessLogRing(0, wanted, true);
        List<Column> columns = schema.columns();
        for (int i = 0; i < columns.size(); i++) {
            LogColumn meaning = LogColumn.named(columns.get(i).name());
            if (meaning == null || meaning.type() != columns.get(i).type()) {
                continue;
            }
            LogField text = meaning.text();
            if (text != null) {
                texts.add(new TextColumn(i, text));
            } else if (meaning != LogColumn.SITE && meaning != LogColumn.TARGET) {
                others.add(new OtherColumn(i, meaning));
            }
        }
        for (LogCapture capture : wanted) {
            int index = schema.indexOf(capture.code());
            if (index >= 0 && columns.get(index).type().isBytes()) {
                texts.add(new TextColumn(index, capture.slot()));
            }
        }
        siteColumn = schema.indexOf(LogColumn.SITE.columnName());
        targetColumn = schema.indexOf(LogColumn.TARGET.columnName());
    }

    /** Passes the record of a row to a reader, during the call. Returns the result of the reader. */
    boolean read(Row row, Predicate<LoggedRecord> reader) {
        AccessLogRecord record = ring.claim();
        if (record == null) {
            throw new IllegalStateException("the ring has no space for a record, although it must be empty");
        }
        fill(record, row);
        ring.publish();
        boolean[] result = {true};
        ring.drain(logged -> {
            logged.sampleRate(sampleRate);
            result[0] = reader.test(logged);
            return true;
        });
        return result[0];
    }

    private void fill(AccessLogRecord record, Row row) {
        sampleRate = 1;
        long headBytes = 0;
        long bodyBytes = 0;
        for (OtherColumn column : others) {
            int index = column.index();
            long number = row.number(index);
            switch (column.meaning()) {
                case HEAD_BYTES -> headBytes = number;
                case BODY_BYTES -> bodyBytes = number;
                case SAMPLE -> sampleRate = (int) Math.max(1, Math.min(Integer.MAX_VALUE, number));
                case CLIENT -> record.client(row.source(index), row.start(index), row.length(index));
                case CACHE -> record.cache(word(row, index, CACHE_RESULTS, CacheResult.NONE));
                case OUTCOME -> record.outcome(word(row, index, OUTCOMES, LogOutcome.OK));
                case HIERARCHY -> record.hierarchy(word(row, index, HIERARCHIES, LogHierarchy.NONE));
                default -> number(record, column.meaning(), number);
            }
        }
        record.sentBytes(headBytes, bodyBytes);
        for (TextColumn column : texts) {
            if (row.length(column.index()) > 0) {
                record.open(column.field());
                append(record, column.field(), row, column.index());
            }
        }
        if ((siteColumn >= 0 && row.length(siteColumn) > 0) || (targetColumn >= 0 && row.length(targetColumn) > 0)) {
            record.open(LogField.URL);
            append(record, LogField.URL, row, siteColumn);
            append(record, LogField.URL, row, targetColumn);
        }
    }

    private static void append(AccessLogRecord record, LogField field, Row row, int column) {
        if (column < 0) {
            return;
        }
        byte[] source = row.source(column);
        record.append(source, row.start(column), row.length(column));
        if (row.isCut(column)) {
            // The record marks a text as truncated when more bytes than its limit are appended.
            record.append(" ".repeat(field.maxBytes()));
        }
    }

    private static <T> T word(Row row, int column, Map<String, T> words, T defaultValue) {
        int length = row.length(column);
        String word = new String(row.source(column), row.start(column), length, StandardCharsets.ISO_8859_1);
        @Nullable T known = words.get(word);
        return known == null ? defaultValue : known;
    }

    private static void number(AccessLogRecord record, LogColumn column, long number) {
        switch (column) {
            case TIME -> record.receivedAtMillis(number);
            case DURATION -> record.durationNanos(nanos(number));
            case FIRST_BYTE -> record.firstByteNanos(nanos(number));
            case RECEIVED_BYTES -> record.receivedBytes(number);
            case STATUS -> record.status((int) number);
            case ORIGIN_STATUS -> record.originStatus((int) number);
            case VERSION -> record.version((int) (number & 15) >> 1, (int) number & 1);
            case ORIGIN_VERSION -> record.originVersion((int) (number & 15) >> 1, (int) number & 1);
            case FLAGS -> flags(record, number);
            default -> throw new IllegalStateException("not a number: " + column);
        }
    }

    private static long nanos(long micros) {
        return micros > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : micros * 1000;
    }

    private static void flags(AccessLogRecord record, long flags) {
        if ((flags & LogColumn.RAM) != 0) {
            record.fromRam();
        }
        if ((flags & LogColumn.COLLAPSED) != 0) {
            record.collapsed();
        }
        if ((flags & LogColumn.NOT_MODIFIED) != 0) {
            record.notModified();
        }
        if ((flags & LogColumn.SECURE) != 0) {
            record.secure();
        }
    }
}
