package io.millrace.proxy.observe.log.reader;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.observe.log.block.BlockReader;
import io.millrace.proxy.observe.log.block.BlockSchema;
import io.millrace.proxy.observe.log.block.Row;
import io.millrace.proxy.observe.log.output.RecordFacts;
import java.io.PrintStream;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Prints the rows of a binary log as lines of text. Confined to one thread. */
public final class LinePrinter implements BlockReader.Visitor {
    private static final int BATCH_BYTES = 1 << 16;

    private final AccessLogFormat format;
    private final @Nullable Expression<LoggedFacts> filter;
    private final PrintStream out;
    private final Consumer<String> warnings;
    private final LineFormat lines;
    private final LineBuffer buffer;
    private final RecordFacts facts = new RecordFacts();
    private @Nullable RowRecords records;
    private String file = "";
    private boolean hasDamage;

    /**
     * @param format a text format, not the binary format
     * @param filter the condition for records that are printed; null for all
     * @param out receives the lines
     * @param warnings receives a text about each damaged part
     */
    public LinePrinter(
            AccessLogFormat format,
            @Nullable Expression<LoggedFacts> filter,
            PrintStream out,
            Consumer<String> warnings) {
        if (format.isBinary()) {
            throw new IllegalArgumentException("not a text format: " + format);
        }
        this.format = format;
        this.filter = filter;
        this.out = out;
        this.warnings = warnings;
        lines = format.lines(format.captures());
        buffer = new LineBuffer(BATCH_BYTES, lines.maxLineBytes());
    }

    /** Begins the next file. Warnings contain its name from now on. */
    public void file(String name) {
        file = name;
    }

    /** Returns true if a part of any file could not be read. */
    public boolean hasDamage() {
        return hasDamage;
    }

    @Override
    public void schema(BlockSchema schema) {
        records = new RowRecords(schema, format.captures());
    }

    @Override
    public boolean row(Row row) {
        RowRecords current = records;
        if (current == null) {
            throw new IllegalStateException("row() was called before schema()");
        }
        return current.read(row, this::print);
    }

    private boolean print(LoggedRecord logged) {
        if (filter != null) {
            facts.setRecord(logged);
            if (!filter.test(facts)) {
                return true;
            }
        }
        lines.append(logged, buffer);
        return buffer.hasRoom() || flush();
    }

    /** Writes the buffered lines. Returns false if a write failed, for example because the reader of a pipe ended. */
    public boolean flush() {
        buffer.printTo(out);
        buffer.clear();
        return !out.checkError();
    }

    @Override
    public void damaged(long offset, String reason) {
        hasDamage = true;
        flush();
        warnings.accept(file + ": at byte " + offset + ": " + reason);
    }
}
