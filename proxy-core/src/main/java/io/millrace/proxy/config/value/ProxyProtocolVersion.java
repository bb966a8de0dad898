package io.millrace.proxy.config.value;

/** A version of the PROXY protocol, in the order of their numbers. */
public enum ProxyProtocolVersion {
    /** No header. */
    NONE(0),
    /** A line of text. */
    V1(1),
    /** Binary. */
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
