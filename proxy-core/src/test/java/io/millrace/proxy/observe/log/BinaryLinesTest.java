package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.log.block.Column;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests that binary logs give the same lines as logs of text, that damage is found, and the size of the files. */
class BinaryLinesTest {
    private final List<String> warnings = new ArrayList<>();

    @Test
    void everyFormatOfTextCanBePrintedAsIfItHadBeenWritten() throws LogTemplateException {
        long seed = new Random().nextLong();
        AccessLogFormat binary = BinaryLogSample.allColumns();
        List<Consumer<AccessLogRecord>> records = records(seed, 3000);
        byte[] file = BinaryLogSample.file(binary, records);
        List<AccessLogFormat> formats = new ArrayList<>(AccessLogFormat.NAMED);
        formats.add(AccessLogFormat.of(BinaryLogSample.ALL_CODES));
        for (AccessLogFormat format : formats) {
            List<String> expected = BinaryLogSample.lines(format, binary.captures(), records);
            assertEquals(expected, BinaryLogSample.printed(format, file, warnings), () -> "seed " + seed);
        }
        assertEquals(List.of(), warnings);
    }

    @Test
    void theDefaultColumnsHaveAllValuesOfTheNamedFormats() {
        long seed = new Random().nextLong();
        List<Consumer<AccessLogRecord>> records = records(seed, 300);
        byte[] file = BinaryLogSample.file(AccessLogFormat.BINARY, records);
        for (AccessLogFormat format : AccessLogFormat.NAMED) {
            assertEquals(
                    BinaryLogSample.lines(format, List.of(), records),
                    BinaryLogSample.printed(format, file, warnings),
                    () -> "seed " + seed);
        }
    }

    @Test
    void aFileThatIsCutAtAnyByteHasTheRowsOfItsWholeBlocks() {
        long seed = new Random().nextLong();
        List<byte[]> blocks = new ArrayList<>();
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.writeBytes(AccessLogFormat.BINARY.schema().block());
        List<Integer> ends = new ArrayList<>(List.of(whole.size()));
        List<String> lines = new ArrayList<>();
        List<Integer> lineCounts = new ArrayList<>(List.of(0));
        for (int i = 0; i < 3; i++) {
            List<Consumer<AccessLogRecord>> records = records(seed + 100L * i, 2);
            blocks.addAll(BinaryLogSample.batches(AccessLogFormat.BINARY, records));
            whole.writeBytes(blocks.get(i));
            ends.add(whole.size());
            lines.addAll(BinaryLogSample.lines(AccessLogFormat.JSON, List.of(), records));
            lineCounts.add(lines.size());
        }
        for (int length = 0; length <= whole.size(); length++) {
            byte[] cut = Arrays.copyOf(whole.toByteArray(), length);
            warnings.clear();
            int complete = 0;
            while (complete < ends.size() && ends.get(complete) <= length) {
                complete++;
            }
            int expected = complete == 0 ? 0 : lineCounts.get(complete - 1);
            int start = complete == 0 ? 0 : ends.get(complete - 1);
            String where = "seed " + seed + ", cut at " + length;
            assertEquals(
                    lines.subList(0, expected),
                    BinaryLogSample.printed(AccessLogFormat.JSON, cut, warnings),
                    () -> where);
            assertEquals(start == length ? 0 : 1, warnings.size(), () -> where);
            assertTrue(start == length || warnings.get(0).startsWith("file: at byte " + start + ": "), () -> where);
        }
    }

    @Test
    void flippedBitsNeverGiveWrongLines() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(AccessLogFormat.BINARY.schema().block());
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Consumer<AccessLogRecord>> records = records(seed + 100L * i, 3);
            BinaryLogSample.batches(AccessLogFormat.BINARY, records).forEach(out::writeBytes);
            lines.addAll(BinaryLogSample.lines(AccessLogFormat.JSON, List.of(), records));
        }
        byte[] whole = out.toByteArray();
        for (int i = 0; i < 3000; i++) {
            byte[] damaged = whole.clone();
            int flips = 1 + random.nextInt(4);
            for (int flip = 0; flip < flips; flip++) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            if (Arrays.equals(whole, damaged)) {
                continue;
            }
            warnings.clear();
            List<String> printed = BinaryLogSample.printed(AccessLogFormat.JSON, damaged, warnings);
            String where = "seed " + seed + ", case " + i;
            assertFalse(warnings.isEmpty(), () -> where);
            assertTrue(isPartInOrder(printed, lines), () -> where + ": " + printed);
            assertTrue(
                    flips > 1 || warnings.get(0).contains("at byte 0:") || printed.size() == lines.size() - 3, where);
        }
    }

    private static boolean isPartInOrder(List<String> part, List<String> all) {
        int at = 0;
        for (String line : part) {
            while (at < all.size() && !all.get(at).equals(line)) {
                at++;
            }
            if (at == all.size()) {
                return false;
            }
            at++;
        }
        return true;
    }

    @Test
    void rowsWhoseSchemaIsDamagedAreReportedAndNotPrinted() {
        byte[] file = BinaryLogSample.file(AccessLogFormat.BINARY, records(1, 5));
        file[40] ^= 1;
        assertEquals(List.of(), BinaryLogSample.printed(AccessLogFormat.SQUID, file, warnings));
        assertEquals(2, warnings.size(), warnings::toString);
        assertTrue(
                warnings.get(1).endsWith("5 records cannot be read, because their schema is missing or damaged"),
                warnings::toString);
    }

    @Test
    void filesOfDifferentSchemasCanBeJoined() throws LogTemplateException {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        joined.writeBytes(BinaryLogSample.file(AccessLogFormat.binary(List.of("chi", "pssc")), records(7, 2)));
        joined.writeBytes(BinaryLogSample.file(AccessLogFormat.BINARY, records(7, 2)));
        List<String> lines =
                BinaryLogSample.printed(AccessLogFormat.of("%<chi> %<pssc>"), joined.toByteArray(), warnings);
        assertEquals(4, lines.size());
        assertEquals(lines.subList(0, 2), lines.subList(2, 4));
        assertEquals(List.of(), warnings);
    }

    @Test
    void aClientCannotImitateABlockWithinADamagedOne() {
        byte[] imitation = BinaryLogSample.file(AccessLogFormat.BINARY, List.of(LogRecords::fillHit));
        Consumer<AccessLogRecord> hostile =
                entry -> entry.text(LogField.USER_AGENT, imitation, 0, Math.min(512, imitation.length));
        byte[] file = BinaryLogSample.file(AccessLogFormat.BINARY, List.of(hostile));
        file[file.length - 1] ^= 1;
        assertEquals(List.of(), BinaryLogSample.printed(AccessLogFormat.SQUID, file, warnings));
        assertEquals(1, warnings.size(), warnings::toString);
    }

    @Test
    void zeroBytesAndLineFeedsBecomeQuestionMarks() {
        byte[] file = BinaryLogSample.file(
                AccessLogFormat.BINARY,
                List.of(
                        entry -> entry.text(LogField.URL, "http://h/a\0b\nc"),
                        entry -> entry.text(LogField.URL, "http://h/a\0b\nc")));
        for (String line : BinaryLogSample.printed(AccessLogFormat.SQUID, file, warnings)) {
            assertTrue(line.contains(" http://h/a?b?c "), line);
        }
    }

    @Test
    void aRecordThatCannotBeEncodedLeavesTheOthers() {
        LineFormat lines = AccessLogFormat.BINARY.lines();
        LineBuffer out = new LineBuffer(0, 200);
        AccessLogRing ring = new AccessLogRing(AccessLogRing.MIN_BYTES);
        LogRecords.fillHit(ring.claim());
        ring.publish();
        ring.drain(logged -> {
            lines.append(logged, out);
            int length = out.length();
            assertThrows(RuntimeException.class, () -> {
                while (true) {
                    lines.append(logged, out);
                }
            });
            assertTrue(out.length() >= length && !out.hasOpenBlock());
            return true;
        });
        assertEquals(out.lines(), linesOf(out));
    }

    private int linesOf(LineBuffer out) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(AccessLogFormat.BINARY.schema().block());
        file.write(out.unwritten().array(), 0, out.length());
        int count = BinaryLogSample.printed(AccessLogFormat.SQUID, file.toByteArray(), warnings)
                .size();
        assertEquals(List.of(), warnings);
        return count;
    }

    @Test
    void columnsAreThoseOfTheCodes() throws LogTemplateException {
        List<String> names = AccessLogFormat.binary(List.of("chi", "psql", "{Accept}cqh")).schema().columns().stream()
                .map(Column::name)
                .toList();
        assertEquals(List.of("time", "client", "head_bytes", "body_bytes", "{Accept}cqh"), names);
        assertThrows(LogTemplateException.class, () -> AccessLogFormat.binary(List.of("chi", "nonsense")));
    }

    @Test
    void everyCodeNeedsAColumn() {
        for (String code : LogCodes.names()) {
            assertFalse(LogColumn.of(code).isEmpty(), code);
        }
    }

    /** The budget: 45 % of the bytes of the squid format, with its values. */
    @Test
    void theFileIsSmallerThanText() throws LogTemplateException {
        List<Consumer<AccessLogRecord>> records = traffic(50_000);
        AccessLogFormat sameValues = AccessLogFormat.binary(
                List.of("cqtq", "ttms", "chi", "crc", "pssc", "psql", "cqhm", "cquuc", "caun", "phr", "shn", "psct"));
        double squid = bytes(BinaryLogSample.lines(AccessLogFormat.SQUID, List.of(), records));
        double json = bytes(BinaryLogSample.lines(AccessLogFormat.JSON, List.of(), records));
        double same = BinaryLogSample.file(sameValues, records).length;
        double all = BinaryLogSample.file(AccessLogFormat.BINARY, records).length;
        System.out.printf(
                "squid %.0f, json %.0f, binary like squid %.0f (%.1f %%), binary with all values %.0f (%.1f %% of squid,"
                        + " %.1f %% of json)%n",
                squid, json, same, 100 * same / squid, all, 100 * all / squid, 100 * all / json);
        assertTrue(same <= 0.45 * squid, "binary " + same + ", squid " + squid);
        assertTrue(all <= 0.25 * json, "binary " + all + ", json " + json);
    }

    private static double bytes(List<String> lines) {
        return lines.stream().mapToInt(String::length).sum();
    }

    /** Returns records like those of a site with 20 hosts, 20,000 URLs (Zipf) and 5,000 clients. */
    private static List<Consumer<AccessLogRecord>> traffic(int count) {
        Random random = new Random(42);
        List<Consumer<AccessLogRecord>> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int url = (int) Math.min(19_999, Math.exp(random.nextDouble() * Math.log(20_000)));
            int client = random.nextInt(5000);
            int agent = client % 40;
            boolean isHit = random.nextInt(10) > 0;
            int millis = i;
            long duration = isHit ? 100_000 + random.nextInt(900_000) : 20_000_000 + random.nextInt(80_000_000);
            records.add(entry -> {
                int host = url % 20;
                String type = url % 3 == 0 ? "image/webp" : url % 3 == 1 ? "text/html; charset=utf-8" : "text/css";
                entry.receivedAtMillis(LogRecords.RECEIVED_AT_MILLIS + millis)
                        .durationNanos(duration)
                        .client(new byte[] {(byte) 198, 51, (byte) (client >> 8), (byte) client}, 0, 4)
                        .status(200)
                        .sentBytes(400 + millis % 40, 500L + url * 37L)
                        .version(1, 1)
                        .text(LogField.METHOD, "GET")
                        .text(
                                LogField.URL,
                                "http://www" + host + ".example.com/assets/section-" + url % 100 + "/item-" + url
                                        + ".html")
                        .text(LogField.CONTENT_TYPE, type)
                        .text(LogField.REFERER, "http://www" + host + ".example.com/")
                        .text(
                                LogField.USER_AGENT,
                                "Mozilla/5.0 (X11; Linux x86_64; rv:" + agent + ".0) Gecko/20100101");
                if (isHit) {
                    entry.cache(CacheResult.HIT).fromRam();
                } else {
                    entry.cache(CacheResult.URI_MISS)
                            .hierarchy(LogHierarchy.DIRECT)
                            .text(LogField.ORIGIN_HOST, "origin" + host + ".example.com")
                            .originStatus(200)
                            .originVersion(1, 1)
                            .firstByteNanos(duration - 1_000_000);
                }
            });
        }
        return records;
    }

    private static List<Consumer<AccessLogRecord>> records(long seed, int count) {
        return LongStream.range(0, count)
                .mapToObj(i -> BinaryLogSample.random(seed * 1_000_003 + i))
                .toList();
    }
}
