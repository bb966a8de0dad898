package io.millrace.store.journal;

/**
 * One entry of a journal, for example a purge. Its meaning is known only to the code that uses the store.
 *
 * @param stamp number chosen by the code that uses the store
 * @param content bytes supplied by the code that uses the store; must never be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record JournalEntry(long stamp, byte[] content) {}
