package io.millrace.bench.trace;

import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/** Generated traces; the same seed gives the same trace. */
enum SyntheticTrace {
    /** Zipf 0.9 over 20,000 objects; every 20,000 requests a scan of 2,000 objects that are requested once. */
    SCANS {
        @Override
        Trace make(long seed) {
            Maker maker = new Maker(seed);
            for (int n = 0; n < REQUESTS; n++) {
                if (n % 20_000 < 2_000) {
                    maker.add("scan" + n, Trace.UNIT_BYTES);
                } else {
                    maker.add("object" + maker.rank(), Trace.UNIT_BYTES);
                }
            }
            return maker.trace(this);
        }
    },
    /** Zipf 0.9 over 20,000 objects; every 50 requests the most popular object becomes the least popular. */
    SHIFTING {
        @Override
        Trace make(long seed) {
            Maker maker = new Maker(seed);
            for (int n = 0; n < REQUESTS; n++) {
                maker.add("object" + (maker.rank() + n / 50), Trace.UNIT_BYTES);
            }
            return maker.trace(this);
        }
    },
    /** Zipf 0.9 over 20,000 objects of 1 to 100 KB, most of them small. */
    SIZES {
        @Override
        Trace make(long seed) {
            Maker maker = new Maker(seed);
            int[] sizes = new int[OBJECTS];
            Arrays.setAll(sizes, object -> (int) (1000 * Math.pow(100, maker.random.nextDouble())));
            for (int n = 0; n < REQUESTS; n++) {
                int object = maker.rank();
                maker.add("object" + object, sizes[object]);
            }
            return maker.trace(this);
        }
    };

    private static final int OBJECTS = 20_000;
    private static final int REQUESTS = 150_000;
    private static final double EXPONENT = 0.9;

    /** Returns a trace of {@value #REQUESTS} requests. */
    abstract Trace make(long seed);

    private static final class Maker {
        private final Random random;
        private final double[] upTo = new double[OBJECTS];
        private final Trace.Builder builder = new Trace.Builder();
        private final long seed;

        Maker(long seed) {
            this.seed = seed;
            random = new Random(seed);
            double sum = 0;
            for (int rank = 0; rank < OBJECTS; rank++) {
                sum += Math.pow(rank + 1, -EXPONENT);
                upTo[rank] = sum;
            }
        }

        int rank() {
            int found = Arrays.binarySearch(upTo, random.nextDouble() * upTo[OBJECTS - 1]);
            return Math.min(OBJECTS - 1, found < 0 ? -found - 1 : found);
        }

        void add(String id, int size) {
            builder.add(id, size);
        }

        Trace trace(SyntheticTrace kind) {
            return builder.build(kind.name().toLowerCase(Locale.ROOT) + " of seed " + seed);
        }
    }
}
