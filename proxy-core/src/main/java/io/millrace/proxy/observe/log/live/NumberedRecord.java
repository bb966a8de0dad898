package io.millrace.proxy.observe.log.live;

/**
 * A copied log record with its number. Immutable; the bytes are shared and must not be changed.
 *
 * @param number number of the record in its queue, from 1; each viewer and each {@link KeptKind} has a queue
 * @param bytes the record, for {@link io.millrace.proxy.observe.log.LoggedRecord#ofCopy}
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record NumberedRecord(long number, byte[] bytes) {}
