package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the length of a pool's regions: short enough to become empty, and long enough that few must be searched. */
class BodyPoolTest {
    private static final long MIB = 1 << 20;

    @ParameterizedTest(name = "{0} MiB in regions of {1} KiB")
    @CsvSource({
        "0, 512",
        "64, 512",
        "256, 512",
        "257, 1024",
        "512, 1024",
        "1024, 2048",
        "1026, 4096",
        "2048, 4096",
        "65536, 4096",
        "65540, 8192",
        "1048576, 65536"
    })
    void regionsGrowWithThePool(long mebibytes, int kibibytes) {
        BodyPool pool = new BodyPool(null, mebibytes * MIB);
        assertEquals(kibibytes << 10, pool.regionLength());
        pool.close();
    }

    @Test
    void aPoolThatIsNotItsOwnHasNoRegions() {
        assertEquals(0, new BodyPool(UnpooledByteBufAllocator.DEFAULT, 64 * MIB).regionLength());
    }
}
