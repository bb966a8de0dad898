package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.block.BlockReader;
import io.millrace.proxy.observe.log.reader.LinePrinter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Random records, and the bytes of binary logs that have them. */
public final class BinaryLogSample {
    private static final String[] WORDS = {"GET", "HEAD", "POST", "", "/", "text/html; charset=utf-8", "é\"\\ \t", "-"};

    /** Every code of templates, with header fields in all forms. */
    static final String ALL_CODES = "%<" + String.join(">|%<", LogCodes.names())
            + ">|%<{Referer}cqh>|%<{User-Agent}cqh>|%<{Accept}cqh>|\"%<{X-A}ecqh>\"|%<{Server}ssh>|%<{Age}cssh>|%<{Vary}psh>";

    private BinaryLogSample() {}

    /** Returns the format with all columns, and a column for each header field of {@link #ALL_CODES}. */
    static AccessLogFormat allColumns() throws LogTemplateException {
        List<String> codes = new ArrayList<>(LogCodes.names());
        codes.addAll(List.of("{Referer}cqh", "{User-Agent}ecqh", "{Accept}cqh"));
        codes.addAll(List.of("{X-A}ecqh", "{Server}ssh", "{Age}cssh", "{Vary}psh"));
        return AccessLogFormat.binary(codes);
    }

    /** Returns a function that fills a record with random values. Equal seeds give equal records. */
    public static Consumer<AccessLogRecord> random(long seed) {
        return entry -> fill(entry, new Random(seed));
    }

    private static void fill(AccessLogRecord entry, Random random) {
        byte[] address = new byte[16];
        random.nextBytes(address);
        entry.receivedAtMillis(LogRecords.RECEIVED_AT_MILLIS + random.nextInt(2_000_000) - 1_000_000)
                .durationNanos(random.nextLong() >>> random.nextInt(1, 64))
                .firstByteNanos(random.nextBoolean() ? 0 : random.nextLong() >>> random.nextInt(1, 64))
                .client(address, 0, random.nextInt(3) * 8)
                .status(random.nextInt(6) * 100 + random.nextInt(2))
                .originStatus(random.nextInt(4) * 100)
                .sentBytes(random.nextInt(3000), random.nextLong() >>> random.nextInt(2, 64))
                .receivedBytes(random.nextInt(4) == 0 ? random.nextInt(100_000) : 0)
                .version(random.nextInt(4), 1)
                .cache(any(CacheResult.values(), random))
                .outcome(any(LogOutcome.values(), random))
                .hierarchy(any(LogHierarchy.values(), random));
        if (random.nextBoolean()) {
            entry.originVersion(1 + random.nextInt(2), 0).fromRam().secure();
        }
        if (random.nextInt(4) == 0) {
            entry.collapsed();
        }
        if (random.nextInt(4) == 0) {
            entry.notModified();
        }
        for (LogField field : LogField.values()) {
            boolean isShown = field != LogField.SPAN && field != LogField.TRACE_STATE && field != LogField.CACHE_RULES;
            if (isShown && random.nextInt(3) > 0) {
                entry.text(field, field == LogField.URL ? url(random) : text(random));
            }
        }
    }

    private static <T> T any(T[] values, Random random) {
        return values[random.nextInt(values.length)];
    }

    private static String url(Random random) {
        return switch (random.nextInt(4)) {
            case 0 ->
                "http://host" + random.nextInt(5) + ".example" + (random.nextBoolean() ? "/" : "?q=" + text(random));
            case 1 -> "https://[2001:db8::" + random.nextInt(3) + "]:8443/" + text(random);
            case 2 -> text(random);
            default -> "http://host.example/" + random.nextInt(20);
        };
    }

    private static String text(Random random) {
        if (random.nextBoolean()) {
            return WORDS[random.nextInt(WORDS.length)];
        }
        int length = random.nextInt(12) == 0 ? random.nextInt(6000) : random.nextInt(60);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            char c = (char) random.nextInt(256);
            text.append(c == 0 || c == '\n' ? 'x' : c);
        }
        return text.toString();
    }

    /** Returns a complete file: the schema and the blocks of the records. */
    public static byte[] file(AccessLogFormat format, List<Consumer<AccessLogRecord>> records) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(format.schema().block());
        for (byte[] block : batches(format, records)) {
            file.writeBytes(block);
        }
        return file.toByteArray();
    }

    /** Returns the blocks of the records, as the writer would write them in one or more batches. */
    static List<byte[]> batches(AccessLogFormat format, List<Consumer<AccessLogRecord>> records) {
        LineFormat lines = format.lines();
        LineBuffer out = new LineBuffer(1 << 18, lines.maxLineBytes());
        List<byte[]> batches = new ArrayList<>();
        AccessLogRing ring = new AccessLogRing(AccessLogRing.MIN_BYTES, format.captures(), true);
        for (Consumer<AccessLogRecord> record : records) {
            if (!out.hasRoom()) {
                batches.add(take(out));
            }
            record.accept(ring.claim());
            ring.publish();
            ring.drain(logged -> {
                lines.append(logged, out);
                return true;
            });
        }
        batches.add(take(out));
        return batches;
    }

    private static byte[] take(LineBuffer out) {
        out.completeBlock();
        byte[] bytes = new byte[out.unwritten().remaining()];
        out.unwritten().get(bytes);
        out.clear();
        return bytes;
    }

    /** Returns the lines of the records in a format of text, each with its line feed. */
    static List<String> lines(
            AccessLogFormat format, List<LogCapture> captures, List<Consumer<AccessLogRecord>> records) {
        LineFormat lines = format.lines(captures);
        LineBuffer out = new LineBuffer(1, lines.maxLineBytes());
        AccessLogRing ring = new AccessLogRing(AccessLogRing.MIN_BYTES, captures, true);
        List<String> all = new ArrayList<>();
        for (Consumer<AccessLogRecord> record : records) {
            record.accept(ring.claim());
            ring.publish();
            ring.drain(logged -> {
                lines.append(logged, out);
                return true;
            });
            all.add(StandardCharsets.ISO_8859_1.decode(out.unwritten()).toString());
            out.clear();
        }
        return all;
    }

    /** Returns the lines that are printed of a file. */
    static List<String> printed(AccessLogFormat format, byte[] file, List<String> warnings) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        LinePrinter printer = new LinePrinter(
                format, null, new PrintStream(bytes, false, StandardCharsets.ISO_8859_1), warnings::add);
        printer.file("file");
        BlockReader reader = new BlockReader(printer);
        try {
            reader.read(new ByteArrayInputStream(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        reader.finish();
        printer.flush();
        List<String> lines = new ArrayList<>();
        for (String line : bytes.toString(StandardCharsets.ISO_8859_1).split("(?<=\n)", -1)) {
            if (!line.isEmpty()) {
                lines.add(line);
            }
        }
        return lines;
    }
}
