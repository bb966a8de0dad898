package io.millrace.store.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the map of one volume. */
class InventoryTest {
    private static final UUID VOLUME = new UUID(1, 2);

    private final FileIo io = new SystemFileIo();

    @TempDir
    private Path directory;

    private Inventory open() throws InventoryException {
        return Inventory.open(io, directory, VOLUME, Inventory.ENTRIES_MIN, () -> true);
    }

    private static InventoryEntry entry(long location, int keyLength) {
        byte[] key = "k".repeat(keyLength).getBytes(StandardCharsets.ISO_8859_1);
        return new InventoryEntry(location, 5, 6, -7, -8, true, key, "text ü", List.of("a", "ü"));
    }

    @Test
    void anEntryIsReadUnchanged() throws IOException {
        Inventory inventory = open();
        assertTrue(inventory.put(3, 4, entry(77, 10)));
        assertEquals(77, inventory.location(3, 4));
        assertEquals(0, inventory.location(4, 3));
        List<InventoryEntry> seen = new ArrayList<>();
        for (int segment = 0; segment < inventory.segments(); segment++) {
            inventory.forEach(segment, (high, low, encoded) -> {
                assertEquals(3, high);
                assertEquals(4, low);
                seen.add(Inventory.decode(encoded));
                return false;
            });
        }
        assertEquals(1, seen.size());
        InventoryEntry back = seen.get(0);
        assertEquals(5, back.bodyLength());
        assertEquals(6, back.headLength());
        assertEquals(-7, back.expiry());
        assertEquals(-8, back.storedAt());
        assertTrue(back.isWhole());
        assertEquals(10, back.key().length);
        assertEquals("text ü", back.text());
        assertEquals(List.of("a", "ü"), back.tags());
        assertEquals(0, inventory.entries(), "taken out by the visitor");
        inventory.abandon();
        assertFalse(Files.exists(directory.resolve(Inventory.FILE_NAME)));
    }

    @Test
    void anEntryPutTwiceCountsOnce() throws IOException {
        Inventory inventory = open();
        for (int i = 1; i <= 10; i++) {
            assertTrue(inventory.put(7, i % 2, entry(i, 10)));
        }
        assertEquals(2, inventory.entries());
        inventory.abandon();
    }

    @Test
    void excessEntriesAreDroppedAndCountedAndTheFileKeepsItsSize() throws IOException {
        Inventory inventory = open();
        long bytes = Files.size(directory.resolve(Inventory.FILE_NAME));
        assertFalse(inventory.put(0, 0, entry(1, 1 << 20)), "too long a key");
        Random random = new Random(1);
        int taken = 0;
        for (int i = 0; i < 3 * Inventory.ENTRIES_MIN; i++) {
            taken += inventory.put(random.nextLong(), random.nextLong(), entry(i + 1, 100)) ? 1 : 0;
        }
        assertTrue(taken >= Inventory.ENTRIES_MIN, "taken=" + taken);
        assertEquals(3 * Inventory.ENTRIES_MIN + 1 - taken, inventory.dropped());
        assertEquals(taken, inventory.entries());
        assertEquals(bytes, Files.size(directory.resolve(Inventory.FILE_NAME)));
        assertEquals(bytes, inventory.fileBytes());
        inventory.abandon();
    }

    @Test
    void itIsKeptAfterACloseAndMadeAnewWithoutOne() throws IOException {
        Inventory first = open();
        assertFalse(first.isUpTo(9), "new");
        first.put(1, 1, entry(1, 10));
        first.close(9, true, true);
        Inventory second = open();
        assertEquals(1, second.entries());
        assertTrue(second.isUpTo(9));
        assertFalse(second.isUpTo(10));
        // A copy of the present state, as a kill would leave it.
        Path killed = Files.createDirectory(directory.resolve("killed"));
        for (String name : List.of(Inventory.FILE_NAME, InventoryState.FILE_NAME)) {
            Files.copy(directory.resolve(name), killed.resolve(name));
        }
        second.close(9, true, false);
        Inventory third = Inventory.open(io, killed, VOLUME, Inventory.ENTRIES_MIN, () -> true);
        assertEquals(0, third.entries());
        assertFalse(third.isUpTo(9));
        third.abandon();
        Inventory fourth = open();
        assertEquals(1, fourth.entries());
        fourth.abandon();
    }

    @Test
    void anotherVolumesIsNotTaken() throws IOException {
        Inventory first = open();
        first.put(1, 1, entry(1, 10));
        first.close(9, true, false);
        Inventory other = Inventory.open(io, directory, new UUID(3, 4), Inventory.ENTRIES_MIN, () -> true);
        assertEquals(0, other.entries());
        other.abandon();
    }

    @Test
    void openingEndsWhenCancelled() {
        InventoryException e = assertThrows(
                InventoryException.class,
                () -> Inventory.open(io, directory, VOLUME, Inventory.ENTRIES_MIN, () -> false));
        assertTrue(e.getMessage().contains("closing"), e.getMessage());
        assertFalse(Files.exists(directory.resolve(Inventory.FILE_NAME)));
    }

    @Test
    void theFlagsAreThereInTests() {
        assertNull(Inventory.obstacle());
    }

    @Test
    void damagedBytesAreNoEntry() {
        long seed = new Random().nextLong();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        byte[] sound = entry(1, 30).encode();
        assertNotNull(Inventory.decode(sound));
        for (int i = 0; i < 10_000; i++) {
            byte[] damaged = java.util.Arrays.copyOf(sound, random.nextInt(sound.length + 1));
            if (damaged.length > 0) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            // Returns null or some entry, but never throws an exception.
            Inventory.decode(damaged);
            Inventory.key(damaged);
            Inventory.location(damaged);
        }
    }

    @Test
    void nothingIsCompiledAtRunTime() throws ClassNotFoundException {
        Class<?> generated = Class.forName("net.openhft.chronicle.hash.VanillaGlobalMutableState$$Native");
        assertNotNull(generated.getProtectionDomain().getCodeSource(), "comes from the class path");
    }
}
