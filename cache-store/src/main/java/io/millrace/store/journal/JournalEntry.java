package io.millrace.store.journal;

/**
 * One entry of a journal, whose meaning only the owner knows.
 *
 * @param stamp number chosen by the owner
 * @param content bytes of the owner; must never be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record JournalEntry(long stamp, byte[] content) {}
