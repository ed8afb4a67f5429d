import{E as d}from"./chunk-QQ4KW35I.js";function a({facts:s}){return d("dl",{class:"facts",children:s.map(([t,i])=>d("div",{children:[d("dt",{children:t}),d("dd",{children:i})]},t))})}export{a};
