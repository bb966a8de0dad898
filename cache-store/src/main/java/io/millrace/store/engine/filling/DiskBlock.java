package io.millrace.store.engine.filling;

import io.millrace.store.index.Location;

/**
 * A request to read a part of one block on disk.
 *
 * @param number number of the block
 * @param location location of the block, {@link Location#NONE} if it must be looked up
 * @param tag tag of the segment at that location
 * @param from first byte within the block
 * @param length number of bytes wanted
 */
record DiskBlock(int number, long location, long tag, int from, int length) {}
