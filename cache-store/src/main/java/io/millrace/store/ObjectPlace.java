package io.millrace.store;

/**
 * Which representation an object is and where its record is.
 *
 * @param objectId id of the representation
 * @param volume number of its volume, or {@link StoreObject#NO_VOLUME}
 * @param sequence of its record, 0 when it has none yet
 */
record ObjectPlace(long objectId, int volume, long sequence) {}
