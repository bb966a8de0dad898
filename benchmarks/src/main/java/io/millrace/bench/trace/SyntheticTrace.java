package io.millrace.bench.trace;

import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/**
 * A kind of generated trace. The same seed gives the same trace. "Zipf 0.9" is the distribution of the requests over
 * the objects, with the exponent 0.9.
 */
enum SyntheticTrace {
    /**
     * Zipf 0.9 over 20,000 objects. Every 20,000 requests begin with a scan of 2,000 objects that are requested once
     * only.
     */
    SCANS {
        @Override
        Trace make(long seed) {
            TraceGenerator generator = new TraceGenerator(seed);
            for (int n = 0; n < REQUESTS; n++) {
                if (n % 20_000 < 2_000) {
                    generator.add("scan" + n, Trace.UNIT_BYTES);
                } else {
                    generator.add("object" + generator.rank(), Trace.UNIT_BYTES);
                }
            }
            return generator.trace(this);
        }
    },
    /**
     * Zipf 0.9 over 20,000 objects. After every 50 requests, the most popular object is replaced by a new object, which
     * is the least popular.
     */
    SHIFTING {
        @Override
        Trace make(long seed) {
            TraceGenerator generator = new TraceGenerator(seed);
            for (int n = 0; n < REQUESTS; n++) {
                generator.add("object" + (generator.rank() + n / 50), Trace.UNIT_BYTES);
            }
            return generator.trace(this);
        }
    },
    /** Zipf 0.9 over 20,000 objects of 1 to 100 KB, most of them small. */
    SIZES {
        @Override
        Trace make(long seed) {
            TraceGenerator generator = new TraceGenerator(seed);
            int[] sizes = new int[OBJECTS];
            Arrays.setAll(sizes, object -> (int) (1000 * Math.pow(100, generator.random.nextDouble())));
            for (int n = 0; n < REQUESTS; n++) {
                int object = generator.rank();
                generator.add("object" + object, sizes[object]);
            }
            return generator.trace(this);
        }
    };

    private static final int OBJECTS = 20_000;
    private static final int REQUESTS = 150_000;
    private static final double EXPONENT = 0.9;

    /** Returns a trace of {@value #REQUESTS} requests. */
    abstract Trace make(long seed);

    private static final class TraceGenerator {
        private final Random random;
        private final double[] cumulative = new double[OBJECTS];
        private final Trace.Builder builder = new Trace.Builder();
        private final long seed;

        TraceGenerator(long seed) {
            this.seed = seed;
            random = new Random(seed);
            double sum = 0;
            for (int rank = 0; rank < OBJECTS; rank++) {
                sum += Math.pow(rank + 1, -EXPONENT);
                cumulative[rank] = sum;
            }
        }

        int rank() {
            int found = Arrays.binarySearch(cumulative, random.nextDouble() * cumulative[OBJECTS - 1]);
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
