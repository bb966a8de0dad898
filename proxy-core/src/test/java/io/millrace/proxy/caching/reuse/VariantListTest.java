package io.millrace.proxy.caching.reuse;

import static io.millrace.proxy.caching.Heads.NOW;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.Variance;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;

final class VariantListTest {

    private static final Variance VARIANCE = Variance.of(Heads.fields("Vary: Accept-Encoding, User-Agent"));

    private final StoredHead empty = StoredHead.varyMarker(VARIANCE, 7, NOW);

    private static byte[] values(String agent) {
        return VARIANCE.valuesOf(Heads.fields("Accept-Encoding: gzip", "User-Agent: " + agent));
    }

    private static StoredHead listing(StoredHead marker, int max, String... agents) {
        StoredHead all = marker;
        for (String agent : agents) {
            all = VariantList.add(all, values(agent), max).marker();
        }
        return all;
    }

    @Test
    void listsAddedObjects() {
        StoredHead marker = listing(empty, 0, "a", "b", "");
        for (String agent : List.of("a", "b", "")) {
            assertTrue(VariantList.contains(marker, values(agent)), agent);
        }
        assertFalse(VariantList.contains(marker, values("c")));
        assertFalse(VariantList.contains(empty, values("a")));
    }

    @Test
    void theMarkerStaysTheSameButForItsList() {
        StoredHead marker = listing(empty, 0, "a");
        assertTrue(marker.isVaryMarker());
        assertEquals(7, marker.nonce());
        assertEquals(VARIANCE.names(), marker.variance().names());
        assertArrayEquals(
                VariantKey.of(new byte[3], empty, values("b")), VariantKey.of(new byte[3], marker, values("b")));
    }

    @Test
    void theOldestMakesRoomAndTheFieldThatDiffersMostIsNamed() {
        StoredHead full = listing(empty, 2, "a", "b");
        VariantList.Added added = VariantList.add(full, values("c"), 2);
        assertEquals(1, added.dropped().size());
        assertArrayEquals(values("a"), added.dropped().get(0));
        assertEquals("User-Agent", added.mostVaried());
        assertFalse(VariantList.contains(added.marker(), values("a")));
        assertTrue(VariantList.contains(added.marker(), values("b")));
        assertTrue(VariantList.contains(added.marker(), values("c")));
    }

    @Test
    void withinTheBudgetNothingIsDropped() {
        VariantList.Added added = VariantList.add(listing(empty, 3, "a", "b"), values("c"), 3);
        assertEquals(List.of(), added.dropped());
        assertNull(added.mostVaried());
    }

    @Test
    void aSmallerBudgetDropsAllThatAreTooMany() {
        VariantList.Added added = VariantList.add(listing(empty, 0, "a", "b", "c"), values("d"), 1);
        assertEquals(3, added.dropped().size());
        assertTrue(VariantList.contains(added.marker(), values("d")));
    }

    @Test
    void theListStaysShortWithoutABudgetToo() {
        StoredHead marker = empty;
        for (int i = 0; i < 50; i++) {
            marker = listing(marker, 0, i + "x".repeat(1000));
            assertTrue(marker.varyValues().length <= VariantList.BYTES_MAX);
        }
        assertTrue(VariantList.contains(marker, values(49 + "x".repeat(1000))));
        StoredHead one = listing(marker, 0, "x".repeat(20_000));
        assertTrue(VariantList.contains(one, values("x".repeat(20_000))));
    }

    @Test
    void survivesStoring() throws Exception {
        StoredHead marker = listing(empty, 0, "a", "b");
        ByteBuf bytes = Unpooled.buffer();
        new StoredHeadCodec().encode(marker, bytes);
        StoredHead read = new StoredHeadCodec().decode(bytes);
        assertEquals(marker, read);
        assertTrue(VariantList.contains(read, values("b")));
    }
}
