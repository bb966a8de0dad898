package io.millrace.store.memory;

import io.millrace.store.memory.MemoryBudget.Part;

/**
 * Counts the owners of a block of a {@link BodyArena}: buffers, and entries of the RAM tier. The last owner frees the
 * block. Its bytes are counted as {@link Part#RESIDENT} while an entry owns it, and in the part of its allocator
 * otherwise.
 *
 * <pre>
 *   count in the header of the block | entries, 12 bits | buffers, 20 bits |
 * </pre>
 *
 * <p>Thread-safe.
 */
final class BlockOwners {
    private static final int BUFFER = 1;
    private static final int ENTRY = 1 << 20;
    private static final int BUFFERS_MAX = ENTRY - 1;

    private BlockOwners() {}

    /** Sets the count of a new block, which one buffer owns. */
    static void begin(BodyArena arena, long place) {
        arena.setOwners(place, BUFFER);
    }

    /** Adds a buffer; the caller must be an owner. */
    static void addBuffer(BodyArena arena, long place) {
        int before = arena.addOwners(place, BUFFER);
        if ((before & BUFFERS_MAX) == BUFFERS_MAX) {
            throw new IllegalStateException("a block has too many buffers");
        }
    }

    /** Checks that a block has no owner but one buffer, so that this buffer may leave it. */
    static void checkOneBuffer(BodyArena arena, long place) {
        if (arena.addOwners(place, 0) != BUFFER) {
            throw new IllegalStateException("a block with more than one owner cannot grow");
        }
    }

    /** Removes a buffer of an allocator. */
    static void removeBuffer(BodyArena arena, long place, CountingAllocator allocator) {
        int bytes = arena.bytes(place);
        if (arena.addOwners(place, -BUFFER) == BUFFER) {
            arena.free(place);
            allocator.budget().release(allocator.part(), bytes);
        }
    }

    /** Adds an entry of the RAM tier; the caller must be an owner. */
    static void addEntry(BodyArena arena, long place, CountingAllocator allocator) {
        int bytes = arena.bytes(place);
        int before = arena.addOwners(place, ENTRY);
        if (before >>> 20 == 0) {
            allocator.budget().move(allocator.part(), Part.RESIDENT, bytes);
        }
    }

    /** Removes an entry of the RAM tier. */
    static void removeEntry(BodyArena arena, long place, CountingAllocator allocator) {
        int bytes = arena.bytes(place);
        int remaining = arena.addOwners(place, -ENTRY) - ENTRY;
        if (remaining == 0) {
            arena.free(place);
            allocator.budget().release(Part.RESIDENT, bytes);
        } else if (remaining >>> 20 == 0) {
            allocator.budget().move(Part.RESIDENT, allocator.part(), bytes);
        }
    }
}
