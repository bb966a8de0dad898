package io.millrace.proxy.exchange.report;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The phases of an exchange, from the request's head to the last byte. The table below contains all transitions;
 * {@code docs/reference/exchange-phases.md} is generated from it.
 */
public enum ExchangePhase {
    /** The request's head was read; nothing is decided yet. */
    RECEIVED("received", "The request's head was read; nothing is decided."),
    /** The disk index contains the key; an I/O thread is reading the record. */
    OPENING("opening", "The disk index knows the key; the record is being read on an I/O thread."),
    /** Waiting for the response head of another exchange's fetch of the same key. */
    COLLAPSED("collapsed", "Another exchange fetches the same key; waiting for the head of its response."),
    /** The request was sent to the origin; waiting for the response head. */
    FETCHING("fetching", "The request went to the origin; waiting for the head of its response."),
    /** A conditional request for a stored response was sent to the origin; waiting for the response head. */
    VALIDATING("validating", "A conditional request for a stored response went to the origin; waiting for its answer."),
    /** A stored response is being sent to the client. */
    SENDING_STORED("sending-stored", "A stored response is on its way to the client."),
    /** An origin's response is being sent to the client. */
    SENDING_FETCHED("sending-fetched", "An origin's response is on its way to the client."),
    /** A response that this proxy generated is being sent to the client. */
    SENDING_LOCAL("sending-local", "An answer of the proxy's own is on its way to the client."),
    /** The client's connection uses another protocol; its bytes are relayed to and from an origin's connection. */
    TUNNELLING("tunnelling", "The connection speaks another protocol, joined to an origin's byte for byte."),
    /** The complete response was passed to the client's stream. */
    DONE("done", "The response was handed over whole."),
    /** The client closed the stream, or the response broke off after its head. */
    ABORTED("aborted", "The client left, or the response broke off after its head.");

    private static final Map<ExchangePhase, Set<ExchangePhase>> TRANSITIONS = transitionTable();

    private final String text;
    private final String sentence;

    ExchangePhase(String text, String sentence) {
        this.text = text;
        this.sentence = sentence;
    }

    /** A stable word for logs. */
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

    /** Whether the exchange has ended. */
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
