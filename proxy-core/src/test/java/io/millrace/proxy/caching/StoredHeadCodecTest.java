package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.store.CorruptHeadException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoredHeadCodecTest {

    private static final long SEED = 0xc0dec;

    private final StoredHeadCodec codec = new StoredHeadCodec();

    @Test
    void keepsEverythingOfAResponse() throws CorruptHeadException {
        StoredHead head = StoredHead.of(
                Heads.get("Foo: 1", "Accept-Encoding: gzip"),
                Heads.response(
                        404,
                        "Cache-Control: s-maxage=60, must-revalidate, proxy-revalidate, no-cache, stale-if-error=7",
                        "ETag: W/\"t\u00e9\"^Last-Modified: {-77}^Vary: Foo, accept-encoding^Set-Cookie: a^Age: 3",
                        "Content-Length: 1234^Expires: {5}"),
                NOW - 250,
                NOW,
                CacheSettings.DEFAULTS);
        StoredHead again = decode(encode(head));
        assertEquals(head, again);
        assertEquals(404, again.status());
        assertEquals(60, again.lifetimeSeconds());
        assertEquals(LifetimeSource.SHARED_MAX_AGE, again.lifetimeSource());
        assertEquals(3250, again.initialAgeMillis());
        assertEquals(NOW - 250, again.requestTimeMillis());
        assertEquals(NOW, again.responseTimeMillis());
        assertEquals(Heads.NOW_SECONDS - 77, again.lastModifiedSeconds());
        assertEquals("W/\"t\u00e9\"", again.entityTag());
        assertEquals(1234, again.contentLength());
        assertEquals(7, again.staleIfErrorSeconds());
        assertTrue(again.isMustRevalidate() && again.isProxyRevalidate() && again.isNoCache() && again.hasSetCookie());
        assertTrue(again.selects(Heads.fields("foo: 1^Accept-Encoding: GZIP")));
        assertEquals(head.fields().toString(), again.fields().toString());
        assertArrayEquals(head.wireBytes(), again.wireBytes());
        assertEquals(head.fieldsStart(), again.fieldsStart());
        assertEquals(head.keepUntilSeconds(), codec.expiresAtSeconds(again));
        assertEquals(head.heapBytes(), codec.heapBytes(again));
    }

    @Test
    void keepsEverythingOfAMarker() throws CorruptHeadException {
        StoredHead marker = StoredHead.varyMarker(Variance.of(Heads.fields("Vary: Foo, x-bar")), -5, NOW);
        StoredHead again = decode(encode(marker));
        assertEquals(marker, again);
        assertTrue(again.isVaryMarker());
        assertEquals("foo, x-bar", again.variance().toString());
        assertEquals(-5, again.nonce());
        assertNull(again.entityTag());
    }

    @Test
    void onlyPinnedRecordsHaveTheVersionWithPins() throws CorruptHeadException {
        StoredHead plain = Heads.stored("Cache-Control: max-age=60");
        StoredHead pinned = plain.withPin(1_900_000_000L);
        assertEquals(2, encode(plain)[0]);
        assertEquals(3, encode(pinned)[0]);
        StoredHead again = decode(encode(pinned));
        assertEquals(pinned, again);
        assertEquals(1_900_000_000L, codec.pinnedUntilSeconds(again));
        assertArrayEquals(plain.groups(), again.groups());
        assertEquals(pinned, again.withPin(1));
        assertEquals(StoredHead.NEVER_EXPIRES, plain.withPin(Long.MAX_VALUE).pinnedUntilSeconds());
    }

    @Test
    void aResponseThatMatchesNothingStillDoesAfterwards() throws CorruptHeadException {
        StoredHead again = decode(encode(Heads.stored("Vary: *")));
        assertTrue(again.variance().isAny());
        assertFalse(again.selects(Heads.fields()));
    }

    private static final String MARKER_BEGIN = "01" + "0000" + "00000000"
            + "0000000000001122" + "0000000000001122" + "0000000000000000"
            + "0000000000000000" + "00" + "0000000000000004" + "8000000000000000"
            + "0000000000000000" + "ffffffffffffffff" + "ffffffffffffffff"
            + "00000000ffffffff" + "0102030405060708";
    private static final String MARKER_END = "01" + "0003" + "666f6f" + "00000000" + "0000" + "00000000";

    private static StoredHead marker() {
        return StoredHead.varyMarker(Variance.of(Heads.fields("Vary: Foo")), 0x0102030405060708L, 0x1122L);
    }

    @Test
    void bytesOfVersion2AreThose() {
        // A change here makes every store on disk unreadable, and needs another version byte.
        assertEquals(
                "02" + MARKER_BEGIN + "0000000000000000" + "0000" + MARKER_END,
                HexFormat.of().formatHex(encode(marker())).replaceFirst(".{8}$", ""));
    }

    @Test
    void bytesOfVersion1AreReadAsOlderThanEveryInvalidation() throws CorruptHeadException {
        byte[] bytes = HexFormat.of().parseHex("01" + MARKER_BEGIN + MARKER_END + "00000000");
        seal(bytes);
        StoredHead head = decode(bytes);
        assertEquals(marker(), head);
        assertEquals(0, head.stamp());
        assertEquals(0, head.groups().length);
    }

    @Test
    void keepsStampAndGroups() throws CorruptHeadException {
        StoredHead head = Heads.stored("Cache-Groups: \"b\", \"a\", \"b\"")
                .withStamp(0x1234_5678_9abc_def0L, Heads.get().target(), null);
        StoredHead again = decode(encode(head));
        assertEquals(head, again);
        assertEquals(0x1234_5678_9abc_def0L, again.stamp());
        assertEquals(2, again.groups().length);
        assertArrayEquals(head.groups(), again.groups());
        assertEquals(head.heapBytes(), again.heapBytes());
    }

    @Test
    void onlyHeadsWithTagsHaveTheVersionWithTags() throws CorruptHeadException {
        StoredHead tagged = Heads.stored("Cache-Control: max-age=60", "xkey: a b", "Cache-Groups: \"c\"");
        assertEquals(4, encode(tagged)[0]);
        assertEquals(-1, tagged.fields().find(FieldName.of("xkey")));
        for (String site : new String[] {null, "shop", "caf\u00e9"}) {
            StoredHead head = tagged.withStamp(7, Heads.get().target(), site).withPin(1_900_000_000L);
            StoredHead again = decode(encode(head));
            assertEquals(head, again);
            assertEquals(List.of("a", "b", "c"), again.tags().texts());
            assertEquals(site, again.tags().site());
            assertEquals(1_900_000_000L, again.pinnedUntilSeconds());
            assertEquals(head.heapBytes(), again.heapBytes());
        }
    }

    /** A field that {@code cache.tags.fields} does not name is an ordinary field, whatever other caches use it for. */
    @Test
    void aFieldThatIsNotConfiguredHasNoTags() throws CorruptHeadException {
        CacheSettings others = CacheSettings.builder()
                .tags(TagRules.of(List.of("xkey"), false))
                .build();
        StoredHead untagged = StoredHead.of(
                Heads.get(), Heads.response(200, "Cache-Control: max-age=60", "Surrogate-Key: a b"), NOW, NOW, others);
        assertTrue(decode(encode(untagged)).tags().isEmpty());
    }

    @Test
    void everyFlippedBitIsNoticed() {
        byte[] bytes = encode(Heads.stored("ETag: \"a\"", "Vary: Foo", "xkey: a b", "Cache-Control: max-age=60"));
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            assertThrows(CorruptHeadException.class, () -> decode(damaged), "bit " + bit);
        }
    }

    @Test
    void everyShorterOrLongerInputIsNoticed() {
        byte[] bytes = encode(Heads.stored("ETag: \"a\"", "Cache-Control: max-age=60"));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(CorruptHeadException.class, () -> decode(cut), "length " + length);
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        assertThrows(CorruptHeadException.class, () -> decode(longer));
    }

    @ParameterizedTest
    @ValueSource(bytes = {0, 5, 127, -1})
    void otherVersionsAreRefusedByName(byte version) {
        byte[] bytes = encode(Heads.stored("ETag: \"a\""));
        bytes[0] = version;
        CorruptHeadException refused = assertThrows(CorruptHeadException.class, () -> decode(bytes));
        assertEquals("version of stored head: actual=" + version + ", expected=1 to 4", refused.getMessage());
    }

    @Test
    void contentThatMakesNoSenseIsRefusedEvenWithAGoodChecksum() throws CorruptHeadException {
        Random random = new Random(SEED);
        byte[] bytes = encode(Heads.stored("ETag: \"a\"", "Vary: Foo, Bar", "Cache-Control: max-age=60"));
        int read = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] damaged = bytes.clone();
            for (int i = 1 + random.nextInt(3); i > 0; i--) {
                damaged[1 + random.nextInt(bytes.length - 5)] = (byte) random.nextInt(256);
            }
            seal(damaged);
            try {
                StoredHead head = decode(damaged);
                read++;
                assertTrue(head.heapBytes() > 0 && head.fields().size() >= 0, "seed " + SEED + " round " + round);
            } catch (CorruptHeadException expected) {
                assertTrue(expected.getMessage() != null, "seed " + SEED + " round " + round);
            }
        }
        assertTrue(read > 0, "damage within a number or a value is not visible");
    }

    @Test
    void unknownFlagsAndKindsAreRefused() {
        byte[] bytes = encode(Heads.stored("ETag: \"a\""));
        for (int position : new int[] {1, 4, 24, 32, 40}) {
            byte[] damaged = bytes.clone();
            damaged[position] |= (byte) 0x80;
            seal(damaged);
            assertThrows(CorruptHeadException.class, () -> decode(damaged), "position " + position);
        }
    }

    @Test
    void readsOnlyTheReadableBytes() throws CorruptHeadException {
        StoredHead head = Heads.stored("ETag: \"a\"");
        ByteBuf direct = Unpooled.directBuffer();
        try {
            direct.writeLong(1);
            codec.encode(head, direct);
            direct.readLong();
            assertEquals(head, codec.decode(direct));
            assertEquals(0, direct.readableBytes());
        } finally {
            direct.release();
        }
    }

    private static void seal(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length - 4);
        int value = (int) crc.getValue();
        for (int i = 0; i < 4; i++) {
            bytes[bytes.length - 4 + i] = (byte) (value >>> (24 - 8 * i));
        }
    }

    private byte[] encode(StoredHead head) {
        // Not at the start of its memory, like a head behind a body.
        ByteBuf out = Unpooled.directBuffer().writeZero(3).readerIndex(3);
        try {
            codec.encode(head, out);
            byte[] bytes = new byte[out.readableBytes()];
            assertEquals(codec.encodedLength(head), bytes.length);
            out.readBytes(bytes);
            return bytes;
        } finally {
            out.release();
        }
    }

    private StoredHead decode(byte[] bytes) throws CorruptHeadException {
        return codec.decode(Unpooled.wrappedBuffer(bytes));
    }
}
