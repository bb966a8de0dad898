package io.millrace.store.frequency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class FrequencySketchTest {
    private final Random random = new Random(5);

    @Test
    void aSketchCountsAndHalves() {
        FrequencySketch sketch = new FrequencySketch(1024, 60, 1 << 19);
        long[] hashes = random.longs(300).toArray();
        for (int i = 0; i < hashes.length; i++) {
            for (int n = 0; n < i % 20; n++) {
                sketch.count(hashes[i]);
            }
        }
        int exact = 0;
        for (int i = 0; i < hashes.length; i++) {
            int frequency = sketch.frequency(hashes[i]);
            assertTrue(frequency >= Math.min(i % 20, 15), "never too little");
            exact += frequency == Math.min(i % 20, 15) ? 1 : 0;
        }
        assertTrue(exact > 280, "exact=" + exact);
        long seen = hashes[19];
        for (int i = 0; i < 11 * 1024; i++) {
            sketch.count(random.nextLong());
        }
        int before = sketch.frequency(seen);
        sketch.age(1 << 20);
        assertEquals(before / 2, sketch.frequency(seen));
    }

    @Test
    void aSketchWithoutCountsKnowsNothing() {
        FrequencySketch sketch = new FrequencySketch(1024, 60, 1 << 19);
        sketch.age(100);
        assertEquals(0, sketch.frequency(random.nextLong()));
    }

    /**
     * Counters saturate. With few objects for the length of the sketch, the counters of popular ones must not all reach
     * the maximum.
     */
    @Test
    void aSketchForgetsByTheNumberOfObjects() {
        FrequencySketch sketch = new FrequencySketch(1 << 14, 60, 1 << 19);
        for (int round = 0; round < 200; round++) {
            if (round % 2 == 0) {
                sketch.count(1);
            }
            for (int n = 0; n < 20; n++) {
                sketch.count(2);
            }
            for (int n = 0; n < 579; n++) {
                sketch.count(random.nextLong());
            }
            sketch.age(100);
        }
        int seldom = sketch.frequency(1);
        int often = sketch.frequency(2);
        assertTrue(seldom > 0 && seldom < often, "seldom=" + seldom + ", often=" + often);
    }

    @Test
    void aDoubledSketchHasTheSameCounts() {
        FrequencySketch sketch = new FrequencySketch(1024, 60, 1 << 19);
        assertEquals(2048, sketch.doubled().longs());
        long[] hashes = random.longs(300).toArray();
        for (int i = 0; i < hashes.length; i++) {
            for (int n = 0; n < i % 16; n++) {
                sketch.count(hashes[i]);
            }
        }
        FrequencySketch larger = sketch.doubled();
        for (long hash : hashes) {
            assertEquals(sketch.frequency(hash), larger.frequency(hash));
        }
    }

    @Test
    void aSketchIsHalvedInParts() {
        FrequencySketch sketch = new FrequencySketch(1024, 10, 256);
        for (int i = 0; i < 12; i++) {
            sketch.count(7);
        }
        for (int i = 0; i < 10 * 1024; i++) {
            sketch.count(random.nextLong());
        }
        int before = sketch.frequency(7);
        for (int call = 0; call < 4; call++) {
            assertTrue(sketch.frequency(7) >= before / 2);
            sketch.age(1 << 20);
        }
        assertEquals(before / 2, sketch.frequency(7));
    }
}
