package io.millrace.proxy.observe.memory;

import java.util.ArrayList;
import java.util.List;

/**
 * The resident memory of a process by purpose, summed from {@code /proc/self/smaps}. All values are in bytes. The first
 * seven values are anonymous memory. The other two are pages of files, which the kernel can reclaim at any time.
 *
 * @param heap the Java heap
 * @param code compiled code
 * @param stacks stacks of threads
 * @param data private copies of file pages, such as the data of libraries and class data archives
 * @param malloc arenas of the GNU C library's malloc, without large blocks that malloc maps individually. The
 * first arena is the mapping {@code [heap]}. Further arenas are recognized by {@code nr} (no swap reserve) in
 * {@code VmFlags}
 * @param jvm memory at addresses that the JVM reserved at its start, such as metaspace and tables of the garbage
 * collector
 * @param mappedAfterStartBytes anonymous memory mapped after the start: large blocks of malloc, and chunks of buffer
 *     pools
 * @param index pages of the volumes' indexes
 * @param files pages of all other files
 */
public record MemoryMap(
        long heap,
        long code,
        long stacks,
        long data,
        long malloc,
        long jvm,
        long mappedAfterStartBytes,
        long index,
        long files) {
    /** All values 0: the result if {@code smaps} cannot be read. */
    static final MemoryMap NONE = new MemoryMap(0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** A mapping without access rights up to this size counts as the guard pages of a thread stack. */
    private static final long GUARD_BYTES_MAX = 64 << 10;
    /** A larger mapping after guard pages does not count as a thread stack. */
    private static final long STACK_BYTES_MAX = 16 << 20;

    private static final long KIB = 1024;

    /** Addresses from {@code start} inclusive to {@code end} exclusive. */
    record Range(long start, long end) {
        static final Range EMPTY = new Range(0, 0);

        boolean contains(long address) {
            return Long.compareUnsigned(address, start) >= 0 && Long.compareUnsigned(address, end) < 0;
        }

        /** Returns the number of addresses that this range shares with another. */
        long overlap(long otherStart, long otherEnd) {
            long from = Long.compareUnsigned(start, otherStart) > 0 ? start : otherStart;
            long to = Long.compareUnsigned(end, otherEnd) < 0 ? end : otherEnd;
            return Long.compareUnsigned(from, to) < 0 ? to - from : 0;
        }

        /**
         * Returns the range from the lowest to the highest address in the text. Addresses begin with {@code 0x};
         * the range is empty if there are none.
         */
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

    /** Returns the address ranges of mappings without a file in {@code smaps}, except stacks and malloc arenas. */
    static List<Range> unnamed(List<String> lines) {
        Sums sums = new Sums(Range.EMPTY, Range.EMPTY, List.of());
        lines.forEach(sums::line);
        return sums.unnamed;
    }

    /**
     * Sums the lines of {@code smaps}.
     *
     * @param jvm the result of {@link #unnamed} at the start of the process
     */
    static MemoryMap of(List<String> lines, Range heap, Range code, List<Range> jvm) {
        Sums sums = new Sums(heap, code, jvm);
        lines.forEach(sums::line);
        return sums.result();
    }

    /** The sum of anonymous memory in bytes. */
    public long anonymous() {
        return heap + code + stacks + data + malloc + jvm + mappedAfterStartBytes;
    }

    /** A parser of {@code smaps}. Holds the sums up to the current line, and the mapping of this line. */
    private static final class Sums {
        private final Range heapRange;
        private final Range codeRange;
        private final List<Range> jvmRanges;
        private final List<Range> unnamed = new ArrayList<>();
        private long heap;
        private long code;
        private long stacks;
        private long data;
        private long malloc;
        private long jvm;
        private long mappedAfterStartBytes;
        private long index;
        private long files;

        private long start;
        private long end;
        private long rss;
        private String path = "";
        private long anonymous;
        private boolean isStack;
        /** True if the addresses are reserved without memory. */
        private boolean reserved;
        /** End of the last malloc mapping. Reserved addresses that begin there are the unused part of an arena. */
        private long arenaEnd;
        /** End of the previous mapping if that was the guard pages of a thread stack, otherwise 0. */
        private long guardEnd;

        Sums(Range heap, Range code, List<Range> jvm) {
            heapRange = heap;
            codeRange = code;
            jvmRanges = jvm;
        }

        void line(String line) {
            if (line.startsWith("Rss:")) {
                rss = kilobytes(line);
            } else if (line.startsWith("Anonymous:")) {
                anonymous = kilobytes(line);
            } else if (line.startsWith("VmFlags:")) {
                add(line.endsWith(" nr") || line.contains(" nr "));
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
            reserved = words[1].startsWith("---");
            boolean guard = reserved && end - start <= GUARD_BYTES_MAX;
            isStack = "[stack]".equals(path)
                    || (path.isEmpty()
                            && words[1].startsWith("rw")
                            && guardEnd == start
                            && end - start <= STACK_BYTES_MAX);
            guardEnd = guard ? end : 0;
        }

        private void add(boolean noReserve) {
            if (heapRange.contains(start)) {
                heap += anonymous;
            } else if (codeRange.contains(start)) {
                code += anonymous;
            } else if (isStack) {
                stacks += anonymous;
            } else if (path.startsWith("/")) {
                data += anonymous;
                addPages(rss - anonymous);
            } else if ("[heap]".equals(path) || (noReserve && !reserved)) {
                malloc += anonymous;
                arenaEnd = end;
            } else if (!reserved || start != arenaEnd) {
                unnamed.add(new Range(start, end));
                long jvmBytes = shareOfJvm();
                jvm += jvmBytes;
                mappedAfterStartBytes += anonymous - jvmBytes;
            }
        }

        /**
         * Estimates the bytes of the mapping that lie in the JVM's ranges. A mapping may lie there only partly,
         * because the kernel merges adjacent mappings.
         */
        private long shareOfJvm() {
            long inside = 0;
            for (Range range : jvmRanges) {
                inside += range.overlap(start, end);
            }
            return Math.round((double) anonymous * inside / (end - start));
        }

        private void addPages(long bytes) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            if (name.startsWith("index")) {
                index += bytes;
            } else {
                files += bytes;
            }
        }

        MemoryMap result() {
            return new MemoryMap(heap, code, stacks, data, malloc, jvm, mappedAfterStartBytes, index, files);
        }
    }
}
