package io.millrace.store.journal;

/**
 * One entry of a journal. Only the user of the store knows its meaning, for example a purge.
 *
 * @param stamp number chosen by the user of the store
 * @param content bytes of the user; must never be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record JournalEntry(long stamp, byte[] content) {}
