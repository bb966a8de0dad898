package io.millrace.proxy.http1;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Arbitrary bytes from a client: what the fast lane takes for a plain request is the request that the channel lane reads. */
class PlainRequestFuzzTest {
    private static final int LENGTH_MAX = 4096;

    @FuzzTest(maxDuration = "30s")
    void readsPlainRequestsAsTheChannelDoes(byte[] bytes) {
        if (bytes.length <= LENGTH_MAX) {
            new PlainRequestCheck().check(bytes);
        }
    }
}
