package io.millrace.proxy.observe;

import java.util.List;

/**
 * Resident memory of a process by what it is for, as the kernel sees it: the sums of the mappings in {@code smaps}. All
 * figures are bytes. Anonymous are the first five; the others are pages of files and cost nothing that cannot be had back.
 *
 * @param heap the Java heap
 * @param code compiled code
 * @param stacks of threads
 * @param data private copies of pages of files: data of libraries, class data archives
 * @param other all other anonymous memory: direct buffers, metaspace, the JVM's own
 * @param index pages of the volumes' indexes
 * @param inventory pages of inventories
 * @param files pages of all other files
 */
public record MemoryMap(
        long heap, long code, long stacks, long data, long other, long index, long inventory, long files) {
    /** Nothing known. */
    static final MemoryMap NONE = new MemoryMap(0, 0, 0, 0, 0, 0, 0, 0);

    private static final long GUARD_BYTES_MAX = 64 << 10;
    private static final long STACK_BYTES_MAX = 16 << 20;
    private static final long KIB = 1024;

    /** Addresses from {@code start} to {@code end}, exclusive. */
    record Range(long start, long end) {
        static final Range EMPTY = new Range(0, 0);

        boolean has(long address) {
            return Long.compareUnsigned(address, start) >= 0 && Long.compareUnsigned(address, end) < 0;
        }

        /** From the lowest to the highest address named in the text as {@code 0x...}; empty when there is none. */
        static Range of(String text) {
            long low = -1;
            long high = 0;
            for (int at = text.indexOf("0x"); at >= 0; at = text.indexOf("0x", at + 2)) {
                int end = at + 2;
                while (end < text.length() && Character.digit(text.charAt(end), 16) >= 0) {
                    end++;
                }
                if (end > at + 2) {
                    long address = Long.parseUnsignedLong(text, at + 2, end, 16);
                    low = Long.compareUnsigned(address, low) < 0 ? address : low;
                    high = Long.compareUnsigned(address, high) > 0 ? address : high;
                }
            }
            return high == 0 ? EMPTY : new Range(low, high);
        }
    }

    /** Sums over the lines of {@code smaps}. */
    static MemoryMap of(List<String> lines, Range heap, Range code) {
        Sums sums = new Sums(heap, code);
        lines.forEach(sums::line);
        return sums.result();
    }

    /** Anonymous bytes in all. */
    public long anonymous() {
        return heap + code + stacks + data + other;
    }

    /** The sums so far, and the mapping that the next lines are about. */
    private static final class Sums {
        private final Range heapRange;
        private final Range codeRange;
        private long heap;
        private long code;
        private long stacks;
        private long data;
        private long other;
        private long index;
        private long inventory;
        private long files;

        private long start;
        private long end;
        private long rss;
        private String path = "";
        private boolean stack;
        /** End of the mapping before when that was a guard; 0 when it was not. */
        private long guardEnd;

        Sums(Range heap, Range code) {
            heapRange = heap;
            codeRange = code;
        }

        void line(String line) {
            if (line.startsWith("Rss:")) {
                rss = kilobytes(line);
            } else if (line.startsWith("Anonymous:")) {
                add(kilobytes(line));
            } else if (!line.isEmpty() && Character.digit(line.charAt(0), 16) >= 0 && line.indexOf('-') > 0) {
                mapping(line);
            }
        }

        private static long kilobytes(String line) {
            String[] words = line.trim().split(" +", -1);
            return Long.parseLong(words[1]) * KIB;
        }

        private void mapping(String line) {
            String[] words = line.split(" +", 6);
            int dash = words[0].indexOf('-');
            start = Long.parseUnsignedLong(words[0], 0, dash, 16);
            end = Long.parseUnsignedLong(words[0], dash + 1, words[0].length(), 16);
            path = words.length == 6 ? words[5].trim() : "";
            boolean guard = words[1].startsWith("---") && end - start <= GUARD_BYTES_MAX;
            stack = "[stack]".equals(path)
                    || (path.isEmpty()
                            && words[1].startsWith("rw")
                            && guardEnd == start
                            && end - start <= STACK_BYTES_MAX);
            guardEnd = guard ? end : 0;
        }

        private void add(long anonymous) {
            if (heapRange.has(start)) {
                heap += anonymous;
            } else if (codeRange.has(start)) {
                code += anonymous;
            } else if (stack) {
                stacks += anonymous;
            } else if (path.startsWith("/")) {
                data += anonymous;
                addPages(rss - anonymous);
            } else {
                other += anonymous;
            }
        }

        private void addPages(long pages) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            if (name.startsWith("index")) {
                index += pages;
            } else if (name.startsWith("inventory")) {
                inventory += pages;
            } else {
                files += pages;
            }
        }

        MemoryMap result() {
            return new MemoryMap(heap, code, stacks, data, other, index, inventory, files);
        }
    }
}
