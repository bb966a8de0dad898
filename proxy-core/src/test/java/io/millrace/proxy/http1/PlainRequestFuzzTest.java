package io.millrace.proxy.http1;

import com.code_intelligence.jazzer.junit.FuzzTest;

/**
 * Fuzz test with arbitrary bytes from a client: a request that the fast lane accepts is the one that the channel lane
 * reads.
 */
class PlainRequestFuzzTest {
    private static final int LENGTH_MAX = 4096;

    @FuzzTest(maxDuration = "30s")
    void readsPlainRequestsAsTheChannelDoes(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            new PlainRequestCheck().check(bytes);
        }
    }
}
