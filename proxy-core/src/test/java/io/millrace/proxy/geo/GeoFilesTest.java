package io.millrace.proxy.geo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.IpAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests lookups in files of the MaxMind DB format, and faulty and changed files. */
class GeoFilesTest {
    @TempDir
    Path directory;

    private Path write(String name, MmdbWriter writer) throws IOException {
        return Files.write(directory.resolve(name), writer.bytes());
    }

    private static MmdbWriter countries(int recordBits, int ipVersion) {
        return new MmdbWriter(recordBits, ipVersion)
                .add(192, 0, 2, 0, 24, MmdbWriter.country("DE", "EU"))
                .add(198, 51, 100, 0, 25, MmdbWriter.country("JP", "AS"))
                .add(198, 51, 100, 128, 25, MmdbWriter.country("BR", "SA"))
                .add(203, 0, 113, 7, 32, MmdbWriter.country("DE", "EU"));
    }

    private static IpAddress ip(String text) throws IOException {
        return IpAddress.of(InetAddress.getByName(text).getAddress());
    }

    private static GeoDatabase open(Path places, Path networks) {
        GeoFiles files = new GeoFiles();
        files.apply(places, networks);
        return files.current();
    }

    @ParameterizedTest
    @CsvSource({"24, 4", "28, 4", "32, 4", "24, 6", "28, 6", "32, 6"})
    void addressesHaveTheCountryOfTheirPrefix(int recordBits, int ipVersion) throws Exception {
        GeoDatabase found = open(write("c.mmdb", countries(recordBits, ipVersion)), null);
        assertEquals(new GeoLocation("DE", "EU", -1), found.find(ip("192.0.2.0")));
        assertEquals(new GeoLocation("DE", "EU", -1), found.find(ip("192.0.2.255")));
        assertEquals(new GeoLocation("JP", "AS", -1), found.find(ip("198.51.100.127")));
        assertEquals(new GeoLocation("BR", "SA", -1), found.find(ip("198.51.100.128")));
        assertEquals(new GeoLocation("DE", "EU", -1), found.find(ip("203.0.113.7")));
        for (String unknown : new String[] {"192.0.3.0", "203.0.113.6", "203.0.113.8", "::1", "2001:db8::1"}) {
            assertSame(GeoLocation.UNKNOWN, found.find(ip(unknown)), unknown);
        }
        assertSame(GeoLocation.UNKNOWN, found.find(null));
    }

    @Test
    void ipv6PrefixesAndNetworks() throws Exception {
        byte[] v6 = InetAddress.getByName("2001:db8::").getAddress();
        Path places = write("c.mmdb", countries(28, 6).add(v6, 32, MmdbWriter.country("FR", "EU")));
        Path networks = write(
                "n.mmdb",
                new MmdbWriter(24, 6)
                        .add(v6, 48, MmdbWriter.network(4_200_000_001L))
                        .add(192, 0, 2, 0, 24, MmdbWriter.network(64_500)));
        GeoDatabase found = open(places, networks);
        assertEquals(new GeoLocation("FR", "EU", 4_200_000_001L), found.find(ip("2001:db8::1")));
        assertEquals(new GeoLocation("FR", "EU", -1), found.find(ip("2001:db8:1::1")));
        assertEquals(new GeoLocation("DE", "EU", 64_500), found.find(ip("192.0.2.1")));
        assertEquals(new GeoLocation("DE", "EU", 64_500), found.find(ip("::ffff:192.0.2.1")));
        assertEquals(new GeoLocation(null, null, 64_500), open(null, networks).find(ip("192.0.2.1")));
    }

    @ParameterizedTest
    @CsvSource({"2100", "530000"})
    void pointersOfEveryLengthAreFollowed(int padding) throws Exception {
        MmdbWriter writer = new MmdbWriter(32, 4)
                .padding(padding)
                .add(192, 0, 2, 0, 24, MmdbWriter.country("DE", "EU"))
                .add(198, 51, 100, 0, 24, MmdbWriter.country("DE", "EU"));
        assertEquals(
                "DE",
                open(write("c.mmdb", writer), null).find(ip("198.51.100.1")).country());
    }

    @ParameterizedTest
    @CsvSource({
        "binary_format_major_version, 3, has the format version 3",
        "record_size, 26, record_size is 26",
        "node_count, 0, node_count is 0",
        "node_count, 99999, is cut off",
        "ip_version, 5, ip_version is 5",
    })
    void faultyMetadataAreNamed(String key, int value, String message) throws Exception {
        Path file = write("c.mmdb", countries(24, 4).metadata(key, value));
        MmdbException fault = assertThrows(MmdbException.class, () -> MmdbFile.check(file));
        assertTrue(
                fault.getMessage().startsWith(file + " ") && fault.getMessage().contains(message), fault::getMessage);
    }

    @Test
    void otherFilesAreRefused() throws Exception {
        Path text = Files.writeString(directory.resolve("text"), "no database");
        for (Path file :
                new Path[] {text, directory, directory.resolve("none"), Files.createFile(directory.resolve("e"))}) {
            MmdbException fault = assertThrows(MmdbException.class, () -> MmdbFile.check(file));
            assertTrue(fault.getMessage().startsWith(file.toString()), fault::getMessage);
        }
    }

    /** A damaged file gives wrong locations or none, and neither an exception nor an endless search. */
    @Test
    void damagedFilesCauseNoException() throws Exception {
        byte[] good = countries(28, 6).bytes();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 3000; round++) {
            byte[] bad = round % 3 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
            for (int i = 0; i < 8 && bad.length > 0; i++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            Path file = Files.write(directory.resolve("bad" + round), bad);
            try {
                MmdbFile opened = MmdbFile.open(file);
                for (String address : new String[] {"192.0.2.1", "198.51.100.200", "203.0.113.7", "2001:db8::"}) {
                    new GeoDatabase(opened, opened).find(ip(address));
                }
            } catch (MmdbException e) {
                assertNotNull(e.getMessage());
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", round " + round, e);
            }
            Files.delete(file);
        }
    }

    @Test
    void aChangedFileIsOpenedAgainAndABadOneIsNot() throws Exception {
        Path file = write("c.mmdb", new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, MmdbWriter.country("DE", "EU")));
        GeoFiles files = new GeoFiles();
        files.apply(file, null);
        GeoDatabase first = files.current();
        files.check();
        assertSame(first, files.current());
        replace(
                file,
                new MmdbWriter(24, 4)
                        .add(192, 0, 2, 0, 24, MmdbWriter.country("FR", "EU"))
                        .bytes());
        files.check();
        assertEquals("FR", files.current().find(ip("192.0.2.1")).country());
        GeoDatabase second = files.current();
        replace(file, new byte[] {1, 2, 3});
        files.check();
        assertSame(second, files.current());
        Files.delete(file);
        files.check();
        assertEquals("FR", files.current().find(ip("192.0.2.1")).country());
        files.apply(null, null);
        assertNull(files.current());
    }

    /** A database in use is a copy, so neither new bytes in its file nor its truncation have an effect on it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFileInUseMayBeOverwritten(boolean truncated) throws Exception {
        MmdbWriter german = new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, MmdbWriter.country("DE", "EU"));
        MmdbWriter french = new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, MmdbWriter.country("FR", "EU"));
        Path file = write("c.mmdb", german);
        GeoFiles files = new GeoFiles();
        files.apply(file, null);
        byte[] bytes = french.bytes();
        byte[] written = truncated ? Arrays.copyOf(bytes, bytes.length / 2) : bytes;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(written.length);
            channel.write(ByteBuffer.wrap(written));
        }
        assertEquals("DE", files.current().find(ip("192.0.2.1")).country());
        files.check();
        assertEquals(
                truncated ? "DE" : "FR", files.current().find(ip("192.0.2.1")).country());
    }

    /** A later version may have the same size and time, as after a change of permissions. */
    @Test
    void aFileThatFailedIsTriedAgain() throws Exception {
        byte[] good = new MmdbWriter(24, 4)
                .add(192, 0, 2, 0, 24, MmdbWriter.country("FR", "EU"))
                .bytes();
        Path file = Files.write(directory.resolve("c.mmdb"), new byte[good.length]);
        FileTime time = Files.getLastModifiedTime(file);
        GeoFiles files = new GeoFiles();
        files.apply(file, null);
        assertSame(GeoLocation.UNKNOWN, files.current().find(ip("192.0.2.1")));
        Files.write(file, good);
        Files.setLastModifiedTime(file, time);
        files.check();
        assertEquals("FR", files.current().find(ip("192.0.2.1")).country());
        GeoDatabase read = files.current();
        files.check();
        assertSame(read, files.current());
    }

    @Test
    void aFileThatIsTooLargeIsRefused() throws Exception {
        Path file = write("c.mmdb", countries(24, 4));
        int size = (int) Files.size(file);
        MmdbFile.open(file, size);
        MmdbException fault = assertThrows(MmdbException.class, () -> MmdbFile.open(file, size - 1));
        assertEquals(file + " has " + size + " bytes, limit=" + (size - 1), fault.getMessage());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            // A sparse file.
            channel.write(ByteBuffer.wrap(new byte[1]), MmdbFile.BYTES_MAX);
        }
        fault = assertThrows(MmdbException.class, () -> MmdbFile.check(file));
        assertTrue(fault.getMessage().endsWith("limit=" + MmdbFile.BYTES_MAX), fault::getMessage);
    }

    @ParameterizedTest
    @CsvSource({"1000, DE", "1023, DE", "1024,", "70000,"})
    void mapsHaveABound(int members, String country) throws Exception {
        Map<String, Object> large = new LinkedHashMap<>();
        for (int i = 0; i < members; i++) {
            large.put("k" + i, "v");
        }
        Map<String, Object> own = new LinkedHashMap<>(large);
        own.putAll(Map.of("country", Map.of("iso_code", "DE")));
        Map<String, Object> nested = new LinkedHashMap<>();
        large.put("last", "v");
        nested.put("large", large);
        nested.putAll(Map.of("country", Map.of("iso_code", "DE")));
        MmdbWriter writer = new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, own).add(198, 51, 100, 0, 24, nested);
        GeoDatabase found = open(write("c.mmdb", writer), null);
        assertEquals(country, found.find(ip("192.0.2.1")).country());
        assertEquals(country, found.find(ip("198.51.100.1")).country());
    }

    private void replace(Path file, byte[] content) throws IOException {
        Path next = Files.write(directory.resolve("next"), content);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void otherValuesThanTextsHaveNoCountry() throws Exception {
        MmdbWriter writer = new MmdbWriter(24, 4)
                .add(192, 0, 2, 0, 24, Map.of("country", Map.of("iso_code", 7), "continent", "EU"))
                .add(198, 51, 100, 0, 24, Map.of("country", Map.of("iso_code", "x".repeat(70_000))));
        GeoDatabase found = open(write("c.mmdb", writer), null);
        assertSame(GeoLocation.UNKNOWN, found.find(ip("192.0.2.1")));
        assertSame(GeoLocation.UNKNOWN, found.find(ip("198.51.100.1")));
    }
}
