package io.millrace.proxy.observe.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryMapTest {
    private final List<String> lines = new ArrayList<>();

    private void mapping(String header, long rss, long anonymous) {
        mapping(header, rss, anonymous, "ac sd");
    }

    private void mapping(String header, long rss, long anonymous, String flags) {
        lines.add(header);
        lines.add("Size:               9999 kB");
        lines.add("Rss:       " + rss + " kB");
        lines.add("Private_Dirty:         7 kB");
        lines.add("Anonymous:   " + anonymous + " kB");
        lines.add("VmFlags: rd wr mr mw me " + flags);
    }

    @Test
    void tellsMappingsApart() {
        mapping("e0000000-e4000000 rw-p 00000000 00:00 0", 100, 100);
        mapping("e4000000-100000000 ---p 00000000 00:00 0", 0, 0);
        mapping("55d000000000-55d000021000 rw-p 00000000 00:00 0                          [heap]", 40, 40);
        mapping("7f0000000000-7f0000270000 rwxp 00000000 00:00 0", 30, 30);
        mapping("7f1000000000-7f1000004000 ---p 00000000 00:00 0", 0, 0);
        mapping("7f1000004000-7f1000100000 rw-p 00000000 00:00 0", 20, 20);
        mapping("7f2000000000-7f2000021000 rw-p 00000000 00:00 0", 33, 33);
        mapping("7f2800000000-7f2800021000 rw-p 00000000 00:00 0", 7, 7, "nr");
        mapping("7f2800021000-7f2804000000 ---p 00000000 00:00 0", 0, 0, "nr sd");
        mapping("7f3000000000-7f3000100000 rw-s 00000000 08:01 77    /var/cache/a b/index", 64, 0);
        mapping("7f4000000000-7f4000100000 rw-s 00000000 08:01 78    /var/cache/other", 16, 0);
        mapping("7f5000000000-7f5000100000 r--p 00000000 08:01 79    /usr/lib/libjvm.so", 12, 2);
        mapping("7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]", 3, 3);
        MemoryMap map = MemoryMap.of(
                lines,
                MemoryMap.Range.of("garbage-first heap total 65536K [0x00000000e0000000, 0x0000000100000000)"),
                MemoryMap.Range.of("bounds [0x00007f0000000000, 0x00007f0000270000, 0x00007f000f000000]"),
                List.of(new MemoryMap.Range(0x7f2000000000L, 0x7f2000010000L)));
        assertEquals(
                new MemoryMap(100 << 10, 30 << 10, 23 << 10, 2 << 10, 47 << 10, 16 << 10, 17 << 10, 64 << 10, 26 << 10),
                map);
        assertEquals(235 << 10, map.anonymous());
    }

    @Test
    void reservedMemoryBelongsToTheJvmAndTheRestOfAnArenaDoesNot() {
        mapping("7f2000000000-7f2000010000 rw-p 00000000 00:00 0", 33, 33);
        mapping("7f2000010000-7f2004000000 ---p 00000000 00:00 0", 0, 0, "nr");
        mapping("7f2800000000-7f2800021000 rw-p 00000000 00:00 0", 7, 7, "nr");
        mapping("7f2800021000-7f2804000000 ---p 00000000 00:00 0", 0, 0, "nr");
        mapping("7f5000000000-7f5000100000 r--p 00000000 08:01 79    /usr/lib/libjvm.so", 12, 2);
        assertEquals(
                List.of(
                        new MemoryMap.Range(0x7f2000000000L, 0x7f2000010000L),
                        new MemoryMap.Range(0x7f2000010000L, 0x7f2004000000L)),
                MemoryMap.unnamed(lines));
    }

    @Test
    void nothingIsKnownWithoutAddresses() {
        assertEquals(MemoryMap.Range.EMPTY, MemoryMap.Range.of("no address, 0x"));
        assertEquals(MemoryMap.NONE, MemoryMap.of(List.of(), MemoryMap.Range.EMPTY, MemoryMap.Range.EMPTY, List.of()));
    }
}
