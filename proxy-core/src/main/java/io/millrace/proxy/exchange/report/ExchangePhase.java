package io.millrace.proxy.exchange.report;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The phases of an exchange, from the request's head to the last byte. {@link #next} lists the permitted transitions.
 * {@code docs/reference/exchange-phases.md} is generated from this enum.
 */
public enum ExchangePhase {
    /** The request's head was read; nothing is decided yet. */
    RECEIVED("received", "The request's head was read; processing has not begun."),
    /** The disk index contains the key; an I/O thread is reading the record. */
    OPENING("opening", "The disk index has the key; an I/O thread reads the record."),
    /** Waiting for the response head of another exchange's fetch of the same key. */
    COLLAPSED("collapsed", "Another exchange fetches the same key; waiting for the head of its response."),
    /** The request was sent to the origin; waiting for the response head. */
    FETCHING("fetching", "The request was sent to the origin; waiting for the head of its response."),
    /** A conditional request for a stored response was sent to the origin; waiting for the response head. */
    VALIDATING(
            "validating",
            "A conditional request for a stored response was sent to the origin; waiting for the answer."),
    /** A stored response is being sent to the client. */
    SENDING_STORED("sending-stored", "A stored response is being sent to the client."),
    /** An origin's response is being sent to the client. */
    SENDING_FETCHED("sending-fetched", "A response of the origin is being sent to the client."),
    /** A response that this proxy generated is being sent to the client. */
    SENDING_LOCAL("sending-local", "A response that the proxy generated is being sent to the client."),
    /** The client's connection uses another protocol; its bytes are relayed to and from an origin's connection. */
    TUNNELLING("tunnelling", "The connection is a tunnel: bytes are copied to and from the origin unchanged."),
    /** The complete response was passed to the client's stream. */
    DONE("done", "The complete response was sent."),
    /** The client closed the stream, or the response broke off after its head. */
    ABORTED("aborted", "The client closed the connection, or the response ended early after its head.");

    private static final Map<ExchangePhase, Set<ExchangePhase>> TRANSITIONS = transitionTable();

    private final String text;
    private final String sentence;

    ExchangePhase(String text, String sentence) {
        this.text = text;
        this.sentence = sentence;
    }

    /** The identifier of this phase in logs. Never changes. */
    public String text() {
        return text;
    }

    /** The meaning of the phase, for the generated table. */
    public String sentence() {
        return sentence;
    }

    /** The phases that may follow this one. */
    public Set<ExchangePhase> next() {
        return TRANSITIONS.getOrDefault(this, Set.of());
    }

    /** Returns true if the exchange has ended. */
    public boolean isTerminal() {
        return this == DONE || this == ABORTED;
    }

    private static Map<ExchangePhase, Set<ExchangePhase>> transitionTable() {
        Map<ExchangePhase, Set<ExchangePhase>> table = new EnumMap<>(ExchangePhase.class);
        table.put(
                RECEIVED, EnumSet.of(OPENING, COLLAPSED, FETCHING, VALIDATING, SENDING_STORED, SENDING_LOCAL, ABORTED));
        table.put(
                OPENING, EnumSet.of(OPENING, COLLAPSED, FETCHING, VALIDATING, SENDING_STORED, SENDING_LOCAL, ABORTED));
        table.put(
                COLLAPSED,
                EnumSet.of(
                        OPENING,
                        COLLAPSED,
                        FETCHING,
                        VALIDATING,
                        SENDING_STORED,
                        SENDING_FETCHED,
                        SENDING_LOCAL,
                        ABORTED));
        table.put(FETCHING, EnumSet.of(SENDING_STORED, SENDING_FETCHED, SENDING_LOCAL, TUNNELLING, ABORTED));
        table.put(VALIDATING, EnumSet.of(FETCHING, SENDING_STORED, SENDING_FETCHED, SENDING_LOCAL, ABORTED));
        table.put(SENDING_STORED, EnumSet.of(DONE, ABORTED));
        table.put(SENDING_FETCHED, EnumSet.of(DONE, ABORTED));
        table.put(TUNNELLING, EnumSet.of(DONE, ABORTED));
        table.put(SENDING_LOCAL, EnumSet.of(DONE, ABORTED));
        return table;
    }
}
