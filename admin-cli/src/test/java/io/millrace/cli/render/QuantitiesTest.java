package io.millrace.cli.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class QuantitiesTest {
    @Test
    void writesBytesInTheLargestUnit() {
        assertEquals("0 B", Quantities.bytes(0));
        assertEquals("1023 B", Quantities.bytes(1023));
        assertEquals("1 KiB", Quantities.bytes(1024));
        assertEquals("1.5 GiB", Quantities.bytes(3L << 29));
        assertEquals("1.2 GiB", Quantities.bytes(1_288_490_188));
        assertEquals("8192 PiB", Quantities.bytes(Long.MAX_VALUE));
    }

    @Test
    void groupsDigits() {
        assertEquals("0", Quantities.count(0));
        assertEquals("999", Quantities.count(999));
        assertEquals("1,000", Quantities.count(1000));
        assertEquals("-100,000", Quantities.count(-100_000));
        assertEquals("1 hit", Quantities.count(1, "hit", "hits"));
        assertEquals("0 hits", Quantities.count(0, "hit", "hits"));
    }

    @Test
    void writesTheTwoLargestUnitsOfTime() {
        assertEquals("0s", Quantities.duration(0));
        assertEquals("59s", Quantities.duration(59));
        assertEquals("1m", Quantities.duration(60));
        assertEquals("3h 12m", Quantities.duration(11_532));
        assertEquals("2d 1h", Quantities.duration(176_401));
        assertEquals("-1m 1s", Quantities.duration(-61));
    }

    @Test
    void writesShares() {
        assertEquals("88.4%", Quantities.percent(16_200, 18_322));
        assertEquals("100.0%", Quantities.percent(5, 5));
        assertEquals("-", Quantities.percent(0, 0));
    }

    @Test
    void writesWholeValuesWithoutAFraction() {
        assertEquals("18322", Quantities.value(1.8322E4));
        assertEquals("0.25", Quantities.value(0.25));
        assertEquals("NaN", Quantities.value(Double.NaN));
        assertEquals("-Inf", Quantities.value(Double.NEGATIVE_INFINITY));
    }
}
