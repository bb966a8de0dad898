package io.millrace.store.engine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The model of a random history. For each key it has the versions that the last crash may have left, the newest last,
 * and all versions since its last removal. One of the latter may be found again if a newer one is damaged.
 */
final class HistoryModel {
    /** Bytes in a block of a body. */
    static final int BLOCK = 8192;

    private final Map<String, List<Version>> afterKill = new HashMap<>();
    private final Map<String, List<Version>> afterPowerLoss = new HashMap<>();
    /** Every version since a removal that a kill, or a power failure, leaves valid. */
    private final Map<String, List<Version>> everKilled = new HashMap<>();

    private final Map<String, List<Version>> everUnpowered = new HashMap<>();

    /** A version of a key; a null head stands for absence. {@code blocks} are the stored blocks, null for all. */
    record Version(String head, long seed, int length, BitSet blocks) {
        static final Version ABSENT = new Version(null, 0, 0, null);
        /** Absence without a removal: the next rebuild may find the damaged object again. */
        static final Version LOST = new Version(null, -1, 0, null);

        boolean isPresent() {
            return head != null;
        }

        int blockCount() {
            return (length + BLOCK - 1) / BLOCK;
        }

        int end(int block) {
            return Math.min(length, (block + 1) * BLOCK);
        }

        boolean has(int block) {
            return blocks == null || blocks.get(block);
        }

        Version with(String newHead) {
            return new Version(newHead, seed, length, blocks);
        }

        /** Returns a copy with the blocks of this moment. */
        Version frozen() {
            return with((BitSet) blocks.clone());
        }

        Version with(BitSet newBlocks) {
            return new Version(head, seed, length, newBlocks);
        }

        byte[] body() {
            return TestStore.body(seed, length);
        }
    }

    private static List<Version> known(Map<String, List<Version>> map, String key) {
        return map.computeIfAbsent(key, k -> new ArrayList<>(List.of(Version.ABSENT)));
    }

    private static List<Version> ever(Map<String, List<Version>> map, String key) {
        return map.computeIfAbsent(key, k -> new ArrayList<>());
    }

    /** Returns the current version of the key. */
    Version current(String key) {
        List<Version> versions = known(afterKill, key);
        return versions.get(versions.size() - 1);
    }

    /** Sets the current version of the key. */
    void became(String key, Version version) {
        known(afterKill, key).add(version);
        known(afterPowerLoss, key).add(version);
        if (version.isPresent()) {
            ever(everKilled, key).add(version);
            ever(everUnpowered, key).add(version);
        }
    }

    /** Sets the key to absent; {@code recorded} if a kill does not change that. */
    void removed(String key, boolean recorded) {
        if (recorded) {
            known(afterKill, key).clear();
            ever(everKilled, key).clear();
        }
        became(key, Version.ABSENT);
    }

    /** Marks all changes as durable. */
    void settle() {
        afterKill.replaceAll((key, versions) -> current(key).equals(Version.LOST)
                ? versions
                : new ArrayList<>(versions.subList(versions.size() - 1, versions.size())));
        copy(afterKill, afterPowerLoss);
        copy(everKilled, everUnpowered);
    }

    private static void copy(Map<String, List<Version>> from, Map<String, List<Version>> to) {
        to.putAll(from);
        to.replaceAll((key, versions) -> new ArrayList<>(versions));
    }

    List<String> keys() {
        return List.copyOf(afterKill.keySet());
    }

    /** Returns the versions that may be found after a crash. */
    List<Version> possible(String key, boolean power) {
        return known(power ? afterPowerLoss : afterKill, key);
    }

    /** Returns further versions that may be found if bits have flipped, the newest last. */
    List<Version> older(String key, boolean power) {
        return ever(power ? everUnpowered : everKilled, key);
    }

    /** Records the version that was found after the crash. */
    void identified(String key, Version version, boolean power) {
        List<Version> now = new ArrayList<>(version.isPresent() ? List.of() : possible(key, power));
        now.add(version);
        afterKill.put(key, now);
        afterPowerLoss.put(key, new ArrayList<>(now));
        List<Version> older = new ArrayList<>(older(key, power));
        everKilled.put(key, older);
        everUnpowered.put(key, new ArrayList<>(older));
    }
}
