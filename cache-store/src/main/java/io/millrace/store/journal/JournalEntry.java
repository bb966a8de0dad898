package io.millrace.store.journal;

/**
 * One entry of a journal.
 *
 * @param stamp the owner's number
 * @param content the owner's bytes; must never be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record JournalEntry(long stamp, byte[] content) {}
