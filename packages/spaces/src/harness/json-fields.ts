/** Reading foreign JSON is everybody's need, so it lives in protocol; adapters import it from here. */
export {
  asObject,
  countAt,
  listAt,
  numberAt,
  objectAt,
  parseList,
  parseObject,
  textAt,
  wordAt,
} from "@meridian/protocol"
