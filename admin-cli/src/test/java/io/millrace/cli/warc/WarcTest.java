package io.millrace.cli.warc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests WARC records against the text of ISO 28500: the file is parsed here by hand. */
final class WarcTest {
    private static final byte[] HTTP = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");

    @TempDir
    private Path directory;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Map<String, String> fields(String type) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("WARC-Type", type);
        fields.put("WARC-Record-ID", WarcWriter.newId());
        fields.put("WARC-Date", WarcWriter.date(1_767_225_600_123L));
        fields.put("WARC-Target-URI", "http://a.example/");
        fields.put("Content-Type", "application/http;msgtype=response");
        return fields;
    }

    private byte[] written(boolean compressed, byte[] content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (WarcWriter warc = new WarcWriter(out, compressed);
                Spool spool = new Spool(directory)) {
            warc.info("Millrace/1", 1_767_225_600_000L);
            spool.add(content);
            warc.record(fields("response"), HTTP, spool);
        }
        return out.toByteArray();
    }

    @Test
    void aRecordHasTheFormOfTheStandard() throws Exception {
        String text = new String(written(false, bytes("hello")), StandardCharsets.UTF_8);
        String second = text.substring(text.indexOf("WARC/1.1", 8));
        String[] lines = second.split("\r\n", -1);
        assertEquals("WARC/1.1", lines[0]);
        assertEquals("WARC-Type: response", lines[1]);
        assertTrue(lines[2].matches("WARC-Record-ID: <urn:uuid:[0-9a-f-]{36}>"), lines[2]);
        assertEquals("WARC-Date: 2026-01-01T00:00:00.123Z", lines[3]);
        byte[] block = bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        String digest = WarcDigest.base32(MessageDigest.getInstance("SHA-256").digest(block));
        assertEquals("WARC-Block-Digest: sha256:" + digest, lines[6]);
        assertEquals("Content-Length: " + block.length, lines[7]);
        assertEquals("", lines[8]);
        assertTrue(second.endsWith("\r\n\r\nhello\r\n\r\n"), second);
        assertTrue(text.startsWith("WARC/1.1\r\nWARC-Type: warcinfo\r\n"), text);
    }

    /** RFC 4648 section 10. */
    @Test
    void base32IsThatOfTheRfc() {
        assertEquals("MZXW6YTBOI======", WarcDigest.base32(bytes("foobar")));
        assertEquals("MZXQ====", WarcDigest.base32(bytes("fo")));
    }

    @Test
    void eachRecordIsAGzipMember() throws Exception {
        byte[] file = written(true, bytes("hello"));
        Inflater inflater = new Inflater(true);
        inflater.setInput(file, 10, file.length - 10);
        byte[] first = new byte[4096];
        int length = inflater.inflate(first);
        assertTrue(inflater.finished());
        String record = new String(first, 0, length, StandardCharsets.UTF_8);
        assertTrue(record.startsWith("WARC/1.1") && record.endsWith("\r\n\r\n"), record);
        int next = 10 + (int) inflater.getBytesRead() + 8;
        assertEquals(0x1f, file[next] & 0xff);
        assertEquals(0x8b, file[next + 1] & 0xff);
        inflater.end();
    }

    @Test
    void contentOfAnyLengthIsReadBack() throws IOException {
        byte[] content = new byte[3 << 20];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) ((i * 31) >>> 3);
        }
        byte[] file = written(true, content);
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count());
        }
        try (WarcReader warc = new WarcReader(new GZIPInputStream(new ByteArrayInputStream(file)))) {
            assertEquals("warcinfo", warc.next().field("warc-type"));
            WarcReader.Head head = warc.next();
            assertEquals("http://a.example/", head.field("warc-target-uri"));
            assertEquals(HTTP.length + content.length, head.length());
            assertArrayEquals(Arrays.copyOf(HTTP, HTTP.length - 2), warc.readHttpHead(1000));
            assertEquals(content.length, warc.left());
            assertArrayEquals(content, warc.readFully(content.length));
            assertTrue(warc.isIntact(head));
            assertNull(warc.next());
        }
    }

    private static WarcReader reader(String text) {
        return new WarcReader(new ByteArrayInputStream(bytes(text)));
    }

    @Test
    void aWrongDigestIsFound() throws IOException {
        String file = new String(written(false, bytes("hello")), StandardCharsets.ISO_8859_1);
        WarcReader warc = reader(file.replace("hello", "hellO"));
        warc.next();
        WarcReader.Head head = warc.next();
        warc.skip();
        assertFalse(warc.isIntact(head));
    }

    @Test
    void digestsOfOtherToolsAreUnderstood() throws IOException {
        String sha1 =
                "WARC/1.0\r\nContent-Length: 3\r\nWARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n\r\nabc\r\n\r\n";
        WarcReader warc = reader(sha1);
        WarcReader.Head head = warc.next();
        warc.skip();
        assertTrue(warc.isIntact(head));
        WarcReader hex =
                reader(sha1.replace("VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5", "a9993e364706816aba3e25717850c26c9cd0d89d"));
        head = hex.next();
        hex.skip();
        assertTrue(hex.isIntact(head));
        WarcReader unknown = reader(sha1.replace("sha1:", "crc99:"));
        head = unknown.next();
        unknown.skip();
        assertFalse(unknown.isIntact(head));
    }

    @Test
    void everyTruncationIsNoticed() throws IOException {
        byte[] whole = written(false, bytes("hello"));
        for (int length = 0; length < whole.length - 4; length++) {
            WarcReader warc = new WarcReader(new ByteArrayInputStream(whole, 0, length));
            int first = firstRecord(whole);
            if (length >= first - 4 && length <= first) {
                // The first record is whole; only the two line ends after it may be missing.
                continue;
            }
            int cut = length;
            assertThrows(IOException.class, () -> readAll(warc), () -> "cut at " + cut);
        }
    }

    private static int firstRecord(byte[] file) {
        return new String(file, StandardCharsets.ISO_8859_1).indexOf("WARC/1.1\r\n", 8);
    }

    private static void readAll(WarcReader warc) throws IOException {
        for (WarcReader.Head head = warc.next(); head != null; head = warc.next()) {
            warc.skip();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\n\r\n",
                "WARC/1.1\r\nno name\r\n\r\n",
                "WARC/1.1\r\nContent-Length: -1\r\n\r\n",
                "WARC/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "WARC/1.1\r\nWARC-Type: response\r\n\r\n"
            })
    void whatIsNoRecordIsRefused(String text) {
        assertThrows(ProtocolException.class, () -> readAll(reader(text)));
    }

    @Test
    void headsAreLimited() {
        assertThrows(ProtocolException.class, () -> reader("WARC/1.1\r\nA: " + "x".repeat(70_000))
                .next());
        assertThrows(
                ProtocolException.class, () -> reader("WARC/1.1\r\n" + ("A: " + "x".repeat(1000) + "\r\n").repeat(70))
                        .next());
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return 'W';
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                Arrays.fill(into, offset, offset + length, (byte) 'W');
                return length;
            }
        };
        assertThrows(ProtocolException.class, () -> new WarcReader(endless).next());
        assertThrows(EOFException.class, () -> reader("").next());
    }

    @Test
    void aSpoolIsReadInOrderFromMemoryAndFile() throws IOException {
        byte[] content = new byte[3 * Spool.MEMORY_BYTES + 5];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31 ^ i >>> 9);
        }
        try (Spool spool = new Spool(directory)) {
            for (int at = 0; at < content.length; at += 60_000) {
                spool.add(Arrays.copyOfRange(content, at, Math.min(content.length, at + 60_000)));
            }
            try (InputStream in = spool.open()) {
                assertArrayEquals(content, in.readAllBytes());
            }
        }
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void theLatestRequestsAreKnown() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (WarcWriter warc = new WarcWriter(out, false)) {
            for (int i = 0; i <= RequestRecords.IDS_MAX / 2; i++) {
                Map<String, String> fields = fields("request");
                fields.put("WARC-Record-ID", "request" + i);
                fields.put("WARC-Concurrent-To", "response" + i);
                warc.record(fields, bytes("HEAD / HTTP/1.1\r\nhOST: a\r\nAccept: b\r\n\r\n"), null);
            }
            Map<String, String> invalid = fields("request");
            invalid.put("WARC-Record-ID", "invalid");
            warc.record(invalid, bytes("nonsense\r\n\r\n"), null);
        }
        RequestRecords requests = new RequestRecords();
        try (WarcReader warc = new WarcReader(new ByteArrayInputStream(out.toByteArray()))) {
            for (WarcReader.Head head = warc.next(); head != null; head = warc.next()) {
                requests.add(warc, head);
            }
        }
        RequestRecords.Request request = new RequestRecords.Request("HEAD", List.of("Accept: b"));
        assertNull(requests.of(response("response0", "request0")));
        assertEquals(request, requests.of(response("response1", "")));
        assertEquals(request, requests.of(response("unknown", "request1")));
        assertNull(requests.of(response("unknown", "invalid")));
    }

    @Test
    void aRequestMayBelongToSeveralRecords() throws IOException {
        String block = "GET / HTTP/1.1\r\nAccept: b\r\n\r\n";
        String file = "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: <request>\r\n"
                + "WARC-Concurrent-To: <metadata>\r\nWARC-Concurrent-To: <response>\r\n"
                + "Content-Length: " + block.length() + "\r\n\r\n" + block + "\r\n\r\n";
        RequestRecords requests = new RequestRecords();
        try (WarcReader warc = new WarcReader(new ByteArrayInputStream(bytes(file)))) {
            WarcReader.Head head = warc.next();
            assertTrue(head != null);
            requests.add(warc, head);
        }
        RequestRecords.Request request = new RequestRecords.Request("GET", List.of("Accept: b"));
        assertEquals(request, requests.of(response("<response>", "")));
        assertEquals(request, requests.of(response("<other>", "<metadata> <request>")));
        assertNull(requests.of(response("<other>", "")));
    }

    private static WarcReader.Head response(String id, String request) {
        return new WarcReader.Head(Map.of("warc-record-id", id, "warc-concurrent-to", request), 0);
    }
}
