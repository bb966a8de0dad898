package io.millrace.proxy.http2.hpack;

/**
 * Encodes and decodes the Huffman code of HPACK (RFC 7541 s5.2, appendix B). The code is canonical: the lengths
 * of the codes determine the codes.
 *
 * <p>Thread-safe: no state changes after class initialization.
 */
public final class HuffmanCode {
    /** Result of {@link #decode} for bytes that are not valid Huffman code. */
    public static final int MALFORMED = -1;

    /** The symbol for the end of the string. The symbols below it are the byte values. */
    private static final int EOS = 256;
    /** Length of the longest code in bits. */
    private static final int LONGEST = 30;
    /** Number of states of the decoder: the inner nodes of the tree of codes. */
    private static final int STATES = 256;

    /** Length in bits of the code of each symbol. */
    private static final byte[] LENGTHS = {
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
        28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
        7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
        23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
        21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30
    };

    /** The code of each symbol. */
    private static final int[] CODES = new int[EOS + 1];

    /** Flag of a transition that decodes a byte. */
    private static final int EMITS = 1 << 16;
    /** Flag of a transition for invalid code. */
    private static final int FAILS = 1 << 17;

    /**
     * The decoder's transition for each state and each group of four input bits. Bits 0 to 7 are the next state,
     * bits 8 to 15 the decoded byte, if {@link #EMITS} is set. Four bits complete at most one symbol, because the
     * shortest code has five bits.
     */
    private static final int[] STEPS = new int[STATES * 16];

    /** The states in which text may end. The bits after the last symbol are padding: at most seven bits, all ones. */
    private static final boolean[] ENDS = new boolean[STATES];

    static {
        int code = 0;
        for (int length = 1; length <= LONGEST; length++) {
            for (int symbol = 0; symbol <= EOS; symbol++) {
                if (LENGTHS[symbol] == length) {
                    CODES[symbol] = code++;
                }
            }
            code <<= 1;
        }
        new Tree().fillSteps();
    }

    private HuffmanCode() {}

    /** The binary tree of the code. Its inner nodes are the states of the decoder. */
    private static final class Tree {
        /**
         * The children of node n are at 2n and 2n+1. A child is the number of another node, or the bitwise complement
         * of a symbol.
         */
        private final int[] children = new int[2 * STATES];

        private int nodes = 1;

        Tree() {
            for (int symbol = 0; symbol <= EOS; symbol++) {
                int node = 0;
                for (int bit = LENGTHS[symbol] - 1; bit > 0; bit--) {
                    int at = 2 * node + ((CODES[symbol] >>> bit) & 1);
                    if (children[at] == 0) {
                        children[at] = nodes++;
                    }
                    node = children[at];
                }
                children[2 * node + (CODES[symbol] & 1)] = ~symbol;
            }
            int node = 0;
            for (int ones = 0; ones < 8; ones++) {
                ENDS[node] = true;
                node = children[2 * node + 1];
                if (node <= 0) {
                    break;
                }
            }
        }

        void fillSteps() {
            for (int state = 0; state < nodes; state++) {
                for (int bits = 0; bits < 16; bits++) {
                    STEPS[state * 16 + bits] = step(state, bits);
                }
            }
        }

        private int step(int state, int bits) {
            int node = state;
            int emitted = 0;
            for (int bit = 3; bit >= 0; bit--) {
                int child = children[2 * node + ((bits >>> bit) & 1)];
                if (child >= 0) {
                    node = child;
                } else if (child == ~EOS) {
                    return FAILS;
                } else {
                    emitted = EMITS | (~child << 8);
                    node = 0;
                }
            }
            return node | emitted;
        }
    }

    /**
     * Decodes a range of bytes.
     *
     * @param out has space for 8/5 of the length of the range
     * @return the position after the decoded bytes in {@code out}, or {@link #MALFORMED}
     */
    public static int decode(byte[] in, int from, int to, byte[] out, int at) {
        int state = 0;
        int end = at;
        for (int i = from; i < to; i++) {
            int high = STEPS[state * 16 + ((in[i] >>> 4) & 0xf)];
            if ((high & (EMITS | FAILS)) != 0) {
                if ((high & FAILS) != 0) {
                    return MALFORMED;
                }
                out[end++] = (byte) (high >>> 8);
            }
            int low = STEPS[(high & 0xff) * 16 + (in[i] & 0xf)];
            if ((low & (EMITS | FAILS)) != 0) {
                if ((low & FAILS) != 0) {
                    return MALFORMED;
                }
                out[end++] = (byte) (low >>> 8);
            }
            state = low & 0xff;
        }
        return ENDS[state] ? end : MALFORMED;
    }

    /** Returns the largest possible decoded size of {@code length} encoded bytes. */
    public static int decodedMax(int length) {
        return length * 8 / 5 + 1;
    }

    /** Returns the number of bytes in the encoded form of a range. */
    public static int encodedLength(byte[] in, int from, int to) {
        long bits = 0;
        for (int i = from; i < to; i++) {
            bits += LENGTHS[in[i] & 0xff];
        }
        return (int) ((bits + 7) >>> 3);
    }

    /**
     * Encodes a range of bytes. Returns the position after the encoded bytes in {@code out}, which needs
     * {@link #encodedLength} free bytes.
     */
    public static int encode(byte[] in, int from, int to, byte[] out, int at) {
        long bits = 0;
        int count = 0;
        int end = at;
        for (int i = from; i < to; i++) {
            int symbol = in[i] & 0xff;
            bits = (bits << LENGTHS[symbol]) | CODES[symbol];
            count += LENGTHS[symbol];
            while (count >= 8) {
                count -= 8;
                out[end++] = (byte) (bits >>> count);
            }
        }
        if (count > 0) {
            out[end++] = (byte) ((bits << (8 - count)) | (0xff >>> count));
        }
        return end;
    }
}
