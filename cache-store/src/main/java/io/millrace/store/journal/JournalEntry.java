package io.millrace.store.journal;

/**
 * One entry of a journal.
 *
 * @param stamp its number; the owner's
 * @param content the owner's bytes; never to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record JournalEntry(long stamp, byte[] content) {}
