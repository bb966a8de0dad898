package io.millrace.proxy.config.value;

/** A version of the PROXY protocol, in ascending order. */
public enum ProxyProtocolVersion {
    /** No header. */
    NONE(0),
    /** A text header of one line. */
    V1(1),
    /** A binary header. */
    V2(2);

    private final int number;

    ProxyProtocolVersion(int number) {
        this.number = number;
    }

    /** 1 or 2; 0 for none. */
    public int number() {
        return number;
    }
}
